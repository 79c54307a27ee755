// The weighted sums of an oblique tree, which follow the values of a case.

import { compared } from "./tree.js";

/** Values with the weighted sums appended; a sum with a missing value is missing. */
export function addSums(tree, sums, x) {
  const rounded = (value) => compared(value, tree);
  const found = sums.map(({ terms }) => {
    const add = (total, [at, weight]) => rounded(total + rounded(rounded(x[at] ?? NaN) * weight));
    return terms.reduce(add, 0);
  });
  return [...x, ...found.map((total) => (Number.isNaN(total) ? null : total))];
}
