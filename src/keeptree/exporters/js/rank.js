// The geometric ranking: scores by the distance to the decision boundary.

import { boxDistances } from "./boxes.js";
import { KINDS } from "./probability.js";
import { decide, leafAverage, route } from "./tree.js";

KINDS.rank = (tree, model, x) => {
  const scores = geometricScores(tree, model, x);
  if (model.values === null) return scores;
  const shares = route(tree, x);
  const p = leafAverage(tree, shares, model.values);
  return p.map((value, c) => {
    let gap = 0;
    for (const [node, share] of shares) gap += model.half_gap[node] ? share * model.half_gap[node][c] : 0;
    return value - 0.5 + gap * (scores[c] / (1 + Math.abs(scores[c])));
  });
};

/** Distances to the boundary of each class, positive inside it. */
function geometricScores(tree, model, x) {
  const classes = tree.declared.length;
  const best = boxDistances(tree, model, classes, x);
  const second = classes > 1 ? [...best].sort((a, b) => a - b)[1] : Infinity;
  const raw = classes === 2 ? [best[1] - best[0], best[0] - best[1]] : best.map((d) => (d > 0 ? -d : second));
  // On the boundary, or with a missing value, the decision of the tree gives the sign.
  const own = decide(tree, x);
  const least = 2 ** -1022;
  const scores = raw.map((score, c) => {
    const bounded = Math.max(-1e150, Math.min(1e150, score));
    return c === own ? Math.max(bounded, least) : Math.min(bounded, -least);
  });
  if (!model.whole) return scores;
  const nearest = Math.min(...scores.map(Math.abs));
  return scores.map((score) => (score > 0 ? nearest : -nearest));
}
