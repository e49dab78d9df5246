// The line under a picture: what is chosen there reaches Python, and what Python chooses the picture shows.
function render({ model, el }) {
  const line = document.createElement("p");
  line.setAttribute("role", "status");
  el.append(line);
  const show = () => {
    const name = model.get("selected");
    line.textContent = name ? `Chosen in the picture: ${name}` : "Choose a column or table in the picture above.";
  };
  const hear = ({ data }) => {
    if (data?.lineage !== model.get("cell") || typeof data.chosen !== "string") return;
    model.set("key", data.chosen);
    model.save_changes();
  };
  const choose = () => {
    // Only the picture of this cell knows the number.
    const message = { lineage: model.get("cell"), choose: model.get("wanted") };
    for (const frame of document.querySelectorAll("iframe")) frame.contentWindow?.postMessage(message, "*");
  };
  addEventListener("message", hear);
  model.on("change:selected", show);
  model.on("change:wanted", choose);
  show();
  return () => {
    removeEventListener("message", hear);
    model.off("change:selected", show);
    model.off("change:wanted", choose);
  };
}
export default { render };
