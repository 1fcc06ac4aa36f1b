"use strict";
// A click on a heading sorts its table by the numbers of the cells, or by their text if they have no numbers.
for (const table of document.querySelectorAll("table")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.value;
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x !== undefined && y !== undefined) return read(x) - read(y) || 0;
        if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
        return a.cells[column].textContent.trim().localeCompare(b.cells[column].textContent.trim(), "en", { numeric: true });
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => (up ? 1 : -1) * compare(a, b)));
    });
  });
}

// In the iframe of a notebook, links to anchors of the page would open the notebook.
if (location.protocol === "about:") {
  for (const link of document.querySelectorAll("a[href^='#']")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById(link.getAttribute("href").slice(1)).scrollIntoView();
    });
  }
}

function read(text) {
  if (text === "inf") return Number.MAX_VALUE;
  return text === "-inf" ? -Number.MAX_VALUE : Number(text);
}
