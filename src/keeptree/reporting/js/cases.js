// The list of cases: filtered, sorted, a few rows at a time.

import { inHundred } from "./words.js";
import { className, element, get, meter, nameOf, truthOf } from "./dom.js";

export const FEW = 6; // rows shown at first

const SHORT = 6; // letters of a name that fit next to the decision; also in page/cases.html.j2

const FILTERS = { check: (item) => item.check, disagrees: (item) => item.disagrees, all: () => true };

/** Sort keys of the cases; by default the tree's most probable errors come first. */
const KEYS = {
  risk: (data, item) => -item.risk,
  distance: (data, item) => item.distance ?? Infinity,
  id: (data, item) => (/^-?\d+(\.\d+)?$/.test(item.id) ? Number(item.id) : item.id),
  decision: (data, item) => data.classes[item.decision].label,
};

function compare(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

/** Positions of the cases that a filter shows, in the chosen order. */
export function chooseCases(data, cases, { show, sort }) {
  const chosen = cases.flatMap((item, at) => (FILTERS[show](item) ? [at] : []));
  const keys = new Map(chosen.map((at) => [at, KEYS[sort](data, cases[at])]));
  return chosen.sort((a, b) => compare(keys.get(a), keys.get(b)) || a - b);
}

/** Draw the first rows of the chosen cases. */
export function drawCases(data, cases, chosen, rows, current) {
  get("case-list").classList.toggle("long-ids", cases.some((item) => item.id.length > SHORT));
  get("case-list").replaceChildren(...chosen.slice(0, rows).map((at, k) => element("li", "", row(data, cases[at], at, at === current, k === 0))));
  if (!chosen.length) get("case-list").replaceChildren(element("li", "note", "None."));
  const left = chosen.length - rows;
  get("more").hidden = left <= 0;
  get("more").textContent = rows === FEW && left <= 50 ? `Show ${left} more` : `Show ${Math.min(left, 50)} more of ${left}`;
}

function row(data, item, at, current, first) {
  const made = element("button", "case", element("span", "id", nameOf(item.id, 24)), element("span", "says", "tree: ", className(data.classes[item.decision])));
  made.type = "button";
  made.dataset.case = at;
  if (current) made.setAttribute("aria-current", "true");
  if (item.truth !== null) made.append(truthOf(data, item));
  if (item.risk !== null) made.append(meter(item.risk), element("span", "risk", `${inHundred(item.risk)}${first ? " chance that the tree is wrong" : ""}`));
  return made;
}

/** Mark the selected case in the list. */
export function markCase(current) {
  for (const made of get("case-list")?.querySelectorAll(".case") ?? []) {
    if (Number(made.dataset.case) === current) made.setAttribute("aria-current", "true");
    else made.removeAttribute("aria-current");
  }
}
