// The outline of a large tree: open nodes are built, folded nodes are buttons.

import { className, element, nameOf, shape } from "./dom.js";
import { countText, grouped } from "./numbers.js";

function bar(node, classes) {
  const total = node.counts.reduce((a, b) => a + b, 0);
  const svg = shape("svg", { viewBox: "0 0 28 12", width: 28, height: 12, "aria-hidden": "true" });
  const bySlot = new Map(); // classes without their own colour share a part
  node.counts.forEach((count, c) => bySlot.set(classes[c].slot, (bySlot.get(classes[c].slot) ?? 0) + count));
  let at = 0;
  for (const [slot, count] of [...bySlot].sort(([a], [b]) => (a || 99) - (b || 99))) {
    if (!count) continue;
    const width = (28 * count) / total;
    svg.append(shape("rect", { x: at, y: 0, width, height: 12, class: `c${slot} part` }));
    at += width;
  }
  return svg;
}

/** One line: bar, test or decision, cases. `step` has the value of the selected case. */
function line(node, parent, data, folded, step) {
  const says = element("span", "says");
  if (parent) says.append(nameOf(parent.name), " ", element("span", "relation", nameOf(step ? step.short : node.relation)));
  else says.append("All training cases");
  if (node.name === null) says.append(" ", element("span", "leaf", className(data.classes[node.class])));
  if (folded) {
    const pill = element("button", "pill", `+${grouped(node.leaves)} ${node.leaves === 1 ? "leaf" : "leaves"}`);
    pill.type = "button";
    pill.dataset.open = node.id;
    says.append(" ", pill);
  }
  const count = element("span", "count", countText(node.cases));
  if (node.name === null && node.errors) count.append(element("span", "muted", ` · ${countText(node.errors)} wrong`));
  return element("div", "branch", bar(node, data.classes), says, count);
}

/** Fill the outline with the nodes whose parents are open. */
export function drawOutline(list, data, open, lit, found, steps) {
  const told = new Map(steps.map((step) => [step.node, step]));
  const root = document.createDocumentFragment();
  const stack = [[data.nodes[0], null, root]];
  while (stack.length) {
    const [node, parent, into] = stack.pop();
    const item = element("li");
    item.dataset.node = node.id;
    item.classList.toggle("on", lit.has(node.id));
    item.classList.toggle("found", found.has(node.id));
    const children = data.below.get(node.id) ?? [];
    const isOpen = open.has(node.id);
    item.append(line(node, parent, data, children.length > 0 && !isOpen, told.get(node.id)));
    into.append(item);
    if (children.length && isOpen) {
      const inner = element("ul");
      item.append(inner);
      for (const child of [...children].reverse()) stack.push([child, node, inner]);
    }
  }
  list.replaceChildren(root);
}
