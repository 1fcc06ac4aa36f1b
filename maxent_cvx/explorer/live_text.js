// Text that screen readers announce when it changes; notes appear if the next answer is slow or the kernel is silent.
const PATIENCE = 400; // milliseconds until "Computing ..." appears
const SILENCE = 5000; // milliseconds from the move of a control to the note that the kernel is silent

function render({ model, el }) {
  const words = document.createElement("div");
  words.className = "maxent-words";
  words.setAttribute("role", "status");
  words.setAttribute("aria-live", "polite");
  el.append(words);
  let timer, unanswered;
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
  // A saved page has sliders but no kernel: without the note, its numbers would seem to follow the moved sliders.
  const moved = (event) => {
    if (unanswered || !el.closest(".maxent-explorer")?.contains(event.target)) return;
    unanswered = setTimeout(() => words.classList.add("maxent-silent"), SILENCE);
    model.send("moved"); // the kernel sends it back
  };
  const answered = () => {
    clearTimeout(unanswered);
    unanswered = undefined;
    words.classList.remove("maxent-silent");
  };
  for (const trait of ["html", "alarm"]) model.on(`change:${trait}`, show);
  model.on("change:busy", wait);
  model.on("msg:custom", answered);
  document.addEventListener("input", moved);
  show();
  wait();
  return () => {
    clearTimeout(timer);
    clearTimeout(unanswered);
    document.removeEventListener("input", moved);
  };
}

export default { render };
