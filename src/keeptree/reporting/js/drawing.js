// The drawing of the tree: the path of the selected case, with its values.

import { all } from "./dom.js";

const PADDING = 8; // padding of the mark behind the nearest test

/** Highlight the nodes on the path of a case, and write its values next to their tests. */
export function lightDrawing(data, shares, steps) {
  const told = new Map(steps.map((step) => [step.node, step]));
  for (const part of all("#tree [data-node]")) {
    const node = Number(part.dataset.node);
    const share = shares.get(node);
    part.classList.toggle("on", share !== undefined);
    part.style.setProperty("--share", share ?? 1);
    const text = part.querySelector(":scope > .test, :scope > .branch > .says > .relation");
    if (text) tellTest(part, text, told.get(node), data.byId.get(node).relation);
  }
}

function tellTest(part, text, step, relation) {
  const said = step ? step.short : relation;
  part.classList.toggle("nearest", step?.near ?? false);
  text.lastChild.textContent = said.length > 40 ? `${said.slice(0, 39)}…` : said;
  const chip = part.querySelector(":scope > .chip");
  if (chip && step?.near && text.getComputedTextLength) chip.setAttribute("width", text.getComputedTextLength() + PADDING);
}
