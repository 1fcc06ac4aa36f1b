// Words that a screen reader says when they change; while the next are worked out, that is said after a while.
const PATIENCE = 400; // milliseconds, after which somebody wonders whether anything happens

function render({ model, el }) {
  const words = document.createElement("div");
  words.className = "maxent-words";
  words.setAttribute("role", "status");
  words.setAttribute("aria-live", "polite");
  el.append(words);
  let timer;
  const show = () => {
    words.innerHTML = model.get("html");
    words.classList.toggle("maxent-alarm", model.get("alarm"));
  };
  const wait = () => {
    clearTimeout(timer);
    words.classList.remove("maxent-busy");
    words.setAttribute("aria-busy", model.get("busy"));
    if (model.get("busy")) timer = setTimeout(() => words.classList.add("maxent-busy"), PATIENCE);
  };
  for (const trait of ["html", "alarm"]) model.on(`change:${trait}`, show);
  model.on("change:busy", wait);
  show();
  wait();
}

export default { render };
