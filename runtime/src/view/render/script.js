"use strict";
// Opens what a link leads to, for browsers that do not; and marks what belongs to the line under the mouse.
function reveal(name) {
  const target = name && document.getElementById(name);
  if (!target) return;
  let part = target.closest("details");
  for (; part; part = part.parentElement.closest("details")) part.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", () => reveal(location.hash.slice(1)));
reveal(location.hash.slice(1));
for (const columns of document.querySelectorAll(".columns")) {
  columns.addEventListener("mouseover", (event) => {
    const over = event.target.closest("[data-line]");
    const name = over && over.dataset.line;
    for (const other of columns.querySelectorAll("[data-line]")) {
      other.classList.toggle("marked", other.dataset.line === name);
    }
  });
}
