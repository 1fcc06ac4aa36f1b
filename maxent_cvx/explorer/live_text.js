// Text that a screen reader reads when it changes; a note appears if the next answer takes long.
const PATIENCE = 400; // milliseconds until the note appears

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
