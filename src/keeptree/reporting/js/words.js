// Sentences, the same as in keeptree.explanation.wording and keeptree.reporting.words.

import { decimalText, fixed, general, grouped, minus, plainNumber, tellNumber, units } from "./numbers.js";

const TOLERANCE = 0.02; // relative increase of a change that rounding may cause
const SIX_DIGITS = 5e-6; // relative error of six significant digits
const MOST_DECIMALS = 8;
const LONGEST_LABEL = 60; // of a file or a link
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const HAIR = 2e-7; // negligible relative difference: the spacing of 32-bit numbers

export function inHundred(p) {
  if (p < 0.01) return "under 1 in 100";
  return p > 0.99 ? "over 99 in 100" : `${fixed(100 * p, 0)} in 100`;
}

/** An interval of a probability in hundredths, rounded outwards. */
export function betweenText([low, high]) {
  return `between ${Math.floor(100 * low + 1e-9)} and ${Math.ceil(100 * high - 1e-9)}`;
}

/** A label for use before a number: `malignant`, `class 1`. */
export function classText(label) {
  return /^[-+.\d]/.test(label) ? `class ${label}` : label;
}

/** A label for use after a number: `8 malignant`, `8 of class 1`. */
export function ofClass(label) {
  return classText(label) === label ? label : `of class ${label}`;
}

/** The class whose probability is shown: the positive one of two, or the most probable one. */
export function shownClass(p, positive) {
  return p.length === 2 ? positive : p.indexOf(Math.max(...p));
}

export function join(parts, last = "and") {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} ${last} ${parts.at(-1)}`;
}

/** The number with the fewest decimals that lies slightly beyond `after` and still inside. */
export function roundOutwards(before, after, inside) {
  if (Math.abs(after) >= 1e15) return after;
  const room = TOLERANCE * Math.abs(after - before);
  for (let decimals = 0; decimals < 18; decimals += 1) {
    for (const mode of ["even", after < before ? "floor" : "ceiling"]) {
      const number = Number(decimalText(units(after, decimals, mode), decimals));
      if (Math.abs(number - after) <= room && inside(number)) return number;
    }
  }
  return after;
}

/** Number of decimals for a precision of `room`. */
function decimalsOf(number, room) {
  for (let decimals = 0; decimals <= MOST_DECIMALS; decimals += 1) {
    if (Math.abs(Number(fixed(number, decimals)) - number) <= room) return decimals;
  }
  return MOST_DECIMALS + 1;
}

/** `26.10 to 25.67 (−0.43)` */
export function tellMove(before, after) {
  const large = Math.max(Math.abs(before), Math.abs(after)) >= 1e15;
  const decimals = large ? 0 : Math.max(decimalsOf(after, 0), decimalsOf(before, Math.min(TOLERANCE * Math.abs(after - before), SIX_DIGITS * Math.abs(before))));
  if (large || decimals > MOST_DECIMALS) {
    const change = after - before;
    return minus(`${general(before, 6)} to ${after} (${change < 0 ? "" : "+"}${general(change, 3)})`);
  }
  const change = units(Number(fixed(after, decimals)), decimals, "even") - units(Number(fixed(before, decimals)), decimals, "even");
  return minus(`${fixed(before, decimals)} to ${fixed(after, decimals)} (${change < 0n ? "" : "+"}${decimalText(change, decimals)})`);
}

/** `texture falls from 26.10 to 25.67 (−0.43)` */
export function tellChange(attribute, before, after) {
  if (attribute.kind === "nominal") {
    return `${attribute.name} changes from ${categoryText(attribute, before)} to ${attribute.categories[after]}`;
  }
  if (Math.abs(after - before) <= HAIR * Math.abs(before) && decimalsOf(after, 0) > MOST_DECIMALS / 2) {
    return `${attribute.name} ${after < before ? "falls to just below" : "rises to just above"} ${plainNumber(before, 6)}`;
  }
  return `${attribute.name} ${after < before ? "falls" : "rises"} from ${tellMove(before, after)}`;
}

/** The nearest change in one sentence; `blocked` are the obstacles if there is none. */
export function tellNearest(change, moves, attributes, classes, decided, blocked) {
  if (change) {
    const told = moves.map((move) => tellChange(attributes[move.attribute], move.before, move.rounded));
    return `Becomes ${classText(classes[change.label].label)} if ${join(told)}, with nothing else changed.`;
  }
  if (blocked === null) return `The tree always decides ${classText(classes[decided].label)}, whatever changes.`;
  if (blocked.length === 0) return "No allowed change alters the decision; more than one constraint prevents it.";
  const hints = new Map();
  for (const { kind, attribute } of blocked.slice(0, 3)) {
    hints.set(kind, [...(hints.get(kind) ?? []), attributes[attribute].name]);
  }
  const words = { lock: "unlock", range: "go beyond the observed values of" };
  const ways = [...hints].map(([kind, names]) => `${words[kind]} ${join(names, "or")}`);
  return `No allowed change alters the decision; ${ways.join(" or ")}?`;
}

/** Which attributes cannot change: `Locked: age and sex.` */
export function tellLocked(attributes, locked) {
  const names = attributes.filter((_, at) => locked.has(at)).map(({ name }) => name);
  return names.length ? `Locked: ${join(names)}.` : "";
}

/** The sentence for a case whose decision only its missing values could change. */
export function tellLacking(attributes, classes, decided, lacking) {
  const names = lacking.map((at) => attributes[at].name);
  const are = names.length === 1 ? "is" : "are";
  return `While ${join(names)} ${are} missing, the tree always decides ${classText(classes[decided].label)}, whatever else changes.`;
}

const ALIKE = 0.15; // maximum width of a group of similar estimates
const BESIDE = 0.005; // maximum distance of this estimate from the group

/** What happened to cases with a similar estimate; "" if they are too different. */
export function tellNeighbours(p, label, bins) {
  const bin = bins?.findLast((item) => item.from - BESIDE <= p && p <= item.to + BESIDE);
  if (!bin || bin.to - bin.from > ALIKE) return "";
  const [from, to] = [bin.from, bin.to].map((share) => inHundred(share).replace(" in 100", ""));
  const said = from === to ? `${from} in 100` : `${from} to ${to} in 100`;
  return `Of ${grouped(bin.cases)} ${bin.cases === 1 ? "case" : "cases"} that the tree had not seen and that had an estimate of ${said}, the outcome was ${label} for ${grouped(bin.happened)}.`;
}

/** The estimate after a change, with a hint if another class is more probable. */
export function tellEstimate(name, label, p) {
  const told = inHundred(p[label]);
  if (p[label] < Math.max(...p)) {
    return `The tree would then decide ${classText(name)}, but our estimate for it would be ${told.startsWith("under") ? "" : "only "}${told}.`;
  }
  return `The estimate for ${classText(name)} would then be ${told}.`;
}

export function valueText(attribute, value) {
  if (value === null) return "not known";
  return attribute.kind === "nominal" ? categoryText(attribute, value) : tellNumber(value);
}

/** Attributes with the labels of a case that the tree has not seen: position -> label. */
export function withLabels(attributes, labels) {
  return attributes.map((attribute, at) => (at in labels ? { ...attribute, own: labels[at] } : attribute));
}

/** A category of a case; one that the tree has not seen has the label of the case, if that is known. */
function categoryText(attribute, code) {
  return isUnseen(attribute, code) ? attribute.own : attribute.categories[code];
}

export function isUnseen(attribute, code) {
  return attribute.own !== undefined && code === attribute.unknown;
}

/**
 * Text from a file or a link as a short label on one line, without marks that change its direction.
 * Right-to-left text is isolated, as by clean in Python, so that it does not reorder its neighbours.
 */
export function labelText(text) {
  const line = text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "").replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (!line) return "(no name)";
  const short = line.length > LONGEST_LABEL ? `${line.slice(0, LONGEST_LABEL - 1)}…` : line;
  return RIGHT_TO_LEFT.test(short) ? `\u2068${short}\u2069` : short;
}
