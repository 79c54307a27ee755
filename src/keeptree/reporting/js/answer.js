// The selected case: decision, estimate, why, and what would change it. page/answer.html.j2 draws the first case.

import { betweenText, classText, inHundred } from "./words.js";
import { className, element, get, meter, nameOf, pushBar, truthOf } from "./dom.js";
import { minus } from "./numbers.js";
import { cheapest } from "../../exporters/js/probability.js";

const MOST_BARS = 3;
const COMPARED = "In log-odds, compared with the average training case.";

/** The name of the selected case and its true class. */
export function drawTitle(data, state, seen) {
  const item = state.case === null ? null : data.cases[state.case];
  const title = item ? ["Case ", nameOf(item.id)] : [nameOf(state.name ?? "New case")];
  get("which").replaceChildren(...title, seen.moved ? ", changed" : "");
  get("truth").replaceChildren(...(item && item.truth !== null ? [truthOf(data, item)] : []));
}

/** The tree's decision next to our estimate. */
export function drawVerdicts(data, { p, label, told, between }) {
  const decided = element("div", "decided", line("label", "The tree decides", data.decides === "tree" ? aside(" (this stands)") : ""), line("big", className(data.classes[label])));
  if (p === null) {
    get("verdicts").replaceChildren(decided, element("div", "estimated", line("label", "Our estimate"), line("note", data.no_model)));
    return;
  }
  if (data.decides !== "tree") decided.append(line("between", `By ${data.decides}, the model decides `, nameOf(data.classes[modelDecides(data, p)].label)));
  const differs = told !== label;
  const said = differs ? ["Our estimate disagrees", aside(": please check")] : ["Our estimate agrees"];
  const chance = line("big", className(data.classes[told]), `, ${inHundred(p[told])}`);
  const estimated = element("div", differs ? "estimated differs" : "estimated", line("label", ...said), chance);
  if (between) estimated.append(line("between", betweenText(between)));
  if (p.length > 2) estimated.append(drawOdds(data, p));
  get("verdicts").replaceChildren(decided, estimated);
}

/** The class that a model decides which does not follow the tree. */
function modelDecides({ decides, costs }, p) {
  return decides === "cost" ? cheapest(p, costs) : p.indexOf(Math.max(...p));
}

/** Text that is hidden on a narrow screen. */
function aside(text) {
  return element("span", "aside", text);
}

function line(name, ...children) {
  return element("p", name, ...children);
}

/** The most probable of several classes. */
function drawOdds(data, p) {
  const order = p.map((_, c) => c).sort((a, b) => p[b] - p[a]).slice(0, MOST_BARS);
  const cells = order.flatMap((c) => [className(data.classes[c]), meter(p[c]), element("span", "", inHundred(p[c]))]);
  return element("div", "odds", ...cells);
}

/** Why the tree decides this, what raises or lowers the estimate, what would change the decision. */
export function drawWhy(data, seen, view) {
  const parts = [element("h3", "", "Why the tree decides ", nameOf(data.classes[seen.label].label)), drawSteps(view.steps), line("leaf-says", view.leaf)];
  if (view.pushes) parts.push(element("h3", "", "What raises or lowers the estimate"), line("note", COMPARED), drawPushes(data, view.pushes));
  if (view.such) parts.push(line("such", view.such));
  parts.push(element("h3", "", data.decides === "tree" ? "What would change the decision" : "What would change the tree's decision"), line("change", tellWay(view)));
  if (view.locked) parts.push(line("locked", view.locked));
  parts.push(line("note", data.caveat));
  get("why").replaceChildren(...parts);
  get("change").textContent = tellWay(view);
  get("locked").textContent = view.locked;
}

/** The nearest change, and what our estimate would be after it. */
export function tellWay(view) {
  return `${view.change} ${view.after}`.trim();
}

function drawSteps(steps) {
  const body = element("tbody");
  for (const step of steps) {
    const note = step.note ? [element("span", "", step.note)] : [];
    const cells = [element("td", "value", nameOf(step.value)), element("td", "test", nameOf(step.test, 120)), element("td", "margin", ...note)];
    body.append(element("tr", step.near ? "near" : "", header(step.name), ...cells));
  }
  return element("table", "steps", element("caption", "hidden", "The tests on the path, with the values of the case"), body);
}

function drawPushes(data, { class: towards, rows }) {
  const two = data.classes.length === 2;
  const names = [two ? classText(data.classes[1 - towards].label) : "another class", classText(data.classes[towards].label)];
  const ways = element("th", "ways", `◀ ${names[0]} | ${names[1]} ▶`);
  ways.scope = "col";
  const most = Math.max(...rows.map((row) => Math.abs(row.value)));
  const body = element("tbody");
  for (const { name, value } of rows) {
    const slot = value > 0 ? data.classes[towards].slot : two ? data.classes[1 - towards].slot : 0;
    const size = `${value < 0 ? "" : "+"}${minus(value.toFixed(2))}`;
    body.append(element("tr", "", header(name), element("td", "", pushBar(value, most, slot)), element("td", "size", size)));
  }
  const head = element("thead", "", element("tr", "", element("td"), ways, element("td")));
  return element("table", "pushes", element("caption", "hidden", "What raises or lowers our estimate"), head, body);
}

function header(name) {
  const made = element("th", "", nameOf(name));
  made.scope = "row";
  return made;
}
