// The table of cases: filtered, sorted, a few rows at a time.

import { classText, distanceText, inHundred, shownClass } from "./words.js";
import { className, element, nameOf } from "./outline.js";

const FILTERS = {
  first: (item) => item.near || item.opinion,
  near: (item) => item.near,
  opinion: (item) => item.opinion,
  all: () => true,
};

/** How many in 100 held-out cases are farther from the boundary; null if nothing is known. */
export function nearerThan(distance, quantiles) {
  if (!quantiles.length) return null;
  const farther = quantiles.filter((value) => value > distance).length;
  return Math.round((100 * farther) / quantiles.length);
}

function keyOf(data, item, column) {
  if (column === "estimate") return item.p[shownClass(item.p, data.positive)];
  if (column === "decision" || column === "truth") return data.classes[item[column]]?.label ?? "";
  if (column === "id") return /^-?\d+(\.\d+)?$/.test(item.id) ? Number(item.id) : item.id;
  return item[column] ?? Infinity;
}

function compare(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

/** Draw the rows that a filter and an order ask for. */
export function drawCases(data, markers, { show, sort, descending, rows }, selected) {
  const table = document.querySelector(".cases");
  const chosen = data.cases.map((item, at) => ({ ...item, at })).filter(FILTERS[show]);
  chosen.sort((a, b) => (descending ? -1 : 1) * compare(keyOf(data, a, sort), keyOf(data, b, sort)) || a.at - b.at);
  const body = table.tBodies[0];
  body.replaceChildren(...chosen.slice(0, rows).map((item) => row(data, markers, item, selected)));
  if (!chosen.length) {
    const cell = element("td", "", "None.");
    cell.colSpan = table.tHead.rows[0].cells.length;
    body.append(element("tr"));
    body.rows[0].append(cell);
  }
  for (const head of table.tHead.rows[0].cells) {
    const sorted = head.firstElementChild.dataset.sort === sort;
    if (sorted) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  const left = chosen.length - rows;
  const more = document.getElementById("more");
  more.hidden = left <= 0;
  more.textContent = `${Math.min(left, 25)} more of ${left}`;
}

function row(data, markers, item, selected) {
  const made = element("tr");
  made.dataset.case = item.at;
  made.setAttribute("aria-selected", String(item.at === selected));
  const head = element("th");
  head.scope = "row";
  const pick = element("button", "case");
  pick.type = "button";
  pick.append(nameOf(item.id));
  head.append(pick);
  if (item.opinion) {
    const flag = element("span", "flag", "?");
    flag.title = "Second opinion";
    head.append(" ", flag);
  }
  made.append(head);
  const labels = [...document.querySelector(".cases").tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const shown = shownClass(item.p, data.positive);
  const told = item.p.length === 2 ? inHundred(item.p[shown]) : `${classText(data.classes[shown].label)} ${inHundred(item.p[shown])}`;
  const cells = [cell(className(data.classes[item.decision], markers)), cell(nameOf(told), "figure"), distanceCell(item)];
  if (data.rows) cells.push(cell(nameOf(item.change, 300), "change"));
  if (item.truth !== null) {
    const truth = cell(className(data.classes[item.truth], markers));
    truth.append(" ", element("span", "mark", item.truth === item.decision ? "✓" : "✗"));
    cells.push(truth);
  }
  cells.forEach((made2, k) => (made2.dataset.label = labels[k + 1]));
  made.append(...cells);
  return made;
}

function cell(content, name = "") {
  const made = element("td", name);
  made.append(content);
  return made;
}

function distanceCell(item) {
  const made = element("td", "figure");
  if (item.distance === null) made.append("–");
  else made.append(item.least ? "≥ " : "", distanceText(item.distance), " ", element("span", "muted", `${Math.round(100 * item.percentile)} %`));
  return made;
}
