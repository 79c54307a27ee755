// The outline of a large tree: what is open is built, what is folded is a button.

const SPACE = "http://www.w3.org/2000/svg";

export function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Text from the data, kept from reordering what is around it. */
export function nameOf(text, longest = 80) {
  const short = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  const made = element("bdi", "", short);
  if (short !== text) made.title = text.slice(0, 300);
  return made;
}

/** The marker of a class beside its name; markers are copied from the legend. */
export function className(item, markers) {
  const made = element("span", "class-name");
  made.append(markers[item.slot].cloneNode(true), " ", nameOf(item.label));
  return made;
}

function bar(node, classes) {
  const total = node.counts.reduce((a, b) => a + b, 0);
  const svg = document.createElementNS(SPACE, "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 28 12", width: 28, height: 12, "aria-hidden": "true" })) svg.setAttribute(key, value);
  const bySlot = new Map(); // the classes without a colour of their own share a part
  node.counts.forEach((count, c) => bySlot.set(classes[c].slot, (bySlot.get(classes[c].slot) ?? 0) + count));
  let at = 0;
  for (const [slot, count] of [...bySlot].sort(([a], [b]) => (a || 99) - (b || 99))) {
    if (!count) continue;
    const rect = document.createElementNS(SPACE, "rect");
    const width = (28 * count) / total;
    for (const [key, value] of Object.entries({ x: at, y: 0, width, height: 12, class: `c${slot} part` })) rect.setAttribute(key, value);
    svg.append(rect);
    at += width;
  }
  return svg;
}

/** One line: bar, question or decision, cases. */
function line(node, parent, data, markers, number, folded) {
  const made = element("div", "branch");
  const says = element("span", "says");
  if (parent) says.append(nameOf(parent.name), " ", nameOf(node.relation));
  else says.append("All training cases");
  if (node.name === null) {
    const leaf = element("span", "leaf");
    leaf.append(className(data.classes[node.class], markers));
    says.append(" ", leaf);
  }
  if (folded) {
    const pill = element("button", "pill", `+${node.leaves.toLocaleString("en")} ${node.leaves === 1 ? "leaf" : "leaves"}`);
    pill.type = "button";
    pill.dataset.open = node.id;
    says.append(" ", pill);
  }
  const count = element("span", "count", number(node.cases));
  if (node.name === null && node.errors) count.append(element("span", "muted", ` · ${number(node.errors)} wrong`));
  made.append(bar(node, data.classes), says, count);
  return made;
}

/** Fill the outline with the nodes whose parents are open. */
export function drawOutline(list, data, markers, number, open, lit, found) {
  const below = data.below;
  const root = document.createDocumentFragment();
  const stack = [[data.nodes[0], null, root]];
  while (stack.length) {
    const [node, parent, into] = stack.pop();
    const item = element("li");
    item.dataset.node = node.id;
    if (lit.has(node.id)) item.classList.add("on");
    if (found.has(node.id)) item.classList.add("found");
    const children = below.get(node.id) ?? [];
    const isOpen = open.has(node.id);
    item.append(line(node, parent, data, markers, number, children.length > 0 && !isOpen));
    into.append(item);
    if (children.length && isOpen) {
      const inner = element("ul");
      item.append(inner);
      for (const child of [...children].reverse()) stack.push([child, node, inner]);
    }
  }
  list.replaceChildren(root);
}
