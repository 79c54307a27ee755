// Save a chart as a separate file, with the style sheet written into it.

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-weight", "display"];

/** SVG text that looks the same outside the page. */
export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const parts = copy.querySelectorAll("*");
  svg.querySelectorAll("*").forEach((part, at) => {
    const style = getComputedStyle(part);
    for (const name of DRAWN) parts[at].setAttribute(name, style.getPropertyValue(name));
  });
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor })) paper.setAttribute(key, value);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

/** Let the browser save text under a name. */
export function saveText(text, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
