// Code with a button that copies it.
function render({ model, el }) {
  const code = document.createElement("pre");
  code.className = "maxent-code";
  code.tabIndex = 0;
  code.setAttribute("aria-label", "Code of this model");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "maxent-copy";
  const show = () => {
    code.textContent = model.get("code");
    button.textContent = "Copy the code";
  };
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(model.get("code"));
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected; copy it with the keyboard";
    }
  });
  model.on("change:code", show);
  show();
  el.append(code, button);
}

export default { render };
