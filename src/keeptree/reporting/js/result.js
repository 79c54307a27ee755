// The answer above the controls: decision, probabilities, second opinion, distance, change.

import { classText, distanceText, inHundred, tellNeighbours } from "./words.js";
import { estimateOf } from "./judge.js";
import { className, element } from "./outline.js";
import { nearerThan } from "./cases.js";

const MOST_BARS = 4;

/** Elements that tell what was found; `said` is the sentence on the nearest change. */
export function drawResult(data, seen, said, markers) {
  const says = element("p", "says", "The tree says ");
  says.append(className(data.classes[seen.label], markers));
  const change = element("p", "change", said);
  change.append(" ", element("span", "muted", "This describes the tree, not the person."));
  return [says, ...drawEstimate(data, seen, markers), ...drawDistance(data, seen), change];
}

function drawEstimate(data, { p, label }, markers) {
  if (p === null) return [element("p", "note", data.no_model)];
  const { shown } = estimateOf(data, p);
  const around = tellNeighbours(p[shown], classText(data.classes[shown].label), data.bins[shown]);
  const most = p.indexOf(Math.max(...p));
  const parts = [drawOdds(data, p, markers)];
  if (around) parts.push(element("p", "note", around));
  if (most !== label) parts.push(element("p", "opinion", tellOpinion(data, label, most, p[most])));
  return parts;
}

function drawDistance(data, { distance, least }) {
  if (!Number.isFinite(distance)) return [];
  const nearer = nearerThan(distance, data.distances);
  const share = nearer === null ? "" : `, nearer than ${nearer} in 100 held-out cases`;
  const why = least ? " The unknown value is taken to be the one nearest to another decision." : "";
  return [element("p", "far", `${tellDistance(distance, least)}${share}.${why}`)];
}

function tellDistance(distance, least) {
  if (distance === 0) return least ? "Possibly on the boundary" : "On the boundary";
  const told = `${least ? "at least " : ""}${distanceText(distance)}`;
  return `${told[0].toUpperCase()}${told.slice(1)} standard deviations from the boundary`;
}

function tellOpinion({ classes }, label, most, p) {
  return `Second opinion: the tree says ${classes[label].label}; we estimate ${classText(classes[most].label)} ${inHundred(p)}. The tree's decision stands; please look again.`;
}

/** Bars of the likeliest classes. */
function drawOdds(data, p, markers) {
  const list = element("div", "odds");
  const order = p.map((_, c) => c).sort((a, b) => (p.length === 2 ? 0 : p[b] - p[a])).slice(0, MOST_BARS);
  for (const c of order) {
    const meter = element("div", "meter");
    const fill = element("div", `fill b${data.classes[c].slot}`);
    fill.style.width = `${100 * p[c]}%`;
    meter.append(fill);
    list.append(className(data.classes[c], markers), meter, element("span", "", inHundred(p[c])));
  }
  return list;
}
