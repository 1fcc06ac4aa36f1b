// A native slider of the browser, which supports keyboards and screen readers.
const KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);

function render({ model, el }) {
  const label = document.createElement("label");
  label.className = "maxent-slider";
  const caption = document.createElement("span");
  const input = document.createElement("input");
  input.type = "range";
  // JupyterLab would otherwise use these keys to navigate.
  input.dataset.lmSuppressShortcuts = "true";
  input.addEventListener("keydown", (event) => KEYS.has(event.key) && event.stopPropagation());
  const number = document.createElement("span"); // visual only: <output> would be announced in addition to the slider
  number.className = "maxent-number";
  number.setAttribute("aria-hidden", "true");
  label.append(caption, input, number);
  el.append(label);

  const write = () => {
    const text = input.valueAsNumber.toFixed(model.get("digits"));
    number.textContent = text;
    input.setAttribute("aria-valuetext", text);
  };
  const show = () => {
    caption.textContent = model.get("caption");
    input.setAttribute("aria-label", model.get("name"));
    for (const side of ["min", "max", "step"]) input[side] = model.get(side);
    input.disabled = model.get("disabled");
    input.value = model.get("value");
    write();
  };
  const move = (value) => {
    model.set("value", value);
    model.save_changes();
  };
  input.addEventListener("input", () => {
    write();
    move(input.valueAsNumber);
  });
  // While the kernel is busy, the newest move is held back, but not a click: the kernel would receive it after the reset.
  const reset = ({ target }) => {
    const page = target.closest(".maxent-reset")?.closest(".maxent-explorer");
    if (page?.contains(el)) move(model.get("start"));
  };
  document.addEventListener("click", reset);
  for (const trait of ["caption", "name", "min", "max", "step", "disabled", "value"]) model.on(`change:${trait}`, show);
  show();
  return () => document.removeEventListener("click", reset);
}

export default { render };
