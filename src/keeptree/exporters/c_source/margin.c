/* Logits: how much of the row reaches each leaf, and how clearly it passes each test. */
static void margin_probability(const double *x, double *p)
{
    double logits[N_CLASSES], added[N_CLASSES];
    for (int j = 0; j < N_LOGITS; j++) logits[j] = margin_intercept[j];
    for (int part = 0; part < N_REACH; part++) {
        soft_average(&margin_tests, margin_reach_steep[part], margin_reach_values[part], N_LOGITS,
                     margin_tests.root, x, added);
        for (int j = 0; j < N_LOGITS; j++) logits[j] += added[j];
    }
    for (int part = 0; part < N_SIDES; part++) {
        for (int node = 0; node <= margin_tests.root; node++) {
            for (int e = margin_tests.child_start[node]; e < margin_tests.child_start[node + 1]; e++) {
                const int branch = e - margin_tests.child_start[node], child = margin_tests.child[e];
                const double share = child_share(&margin_tests, node, branch, margin_side_steep[part][node], x);
                for (int j = 0; j < N_LOGITS; j++)
                    logits[j] += share * margin_side_scores[part][child * N_LOGITS + j];
            }
        }
    }
    if (N_LOGITS == 1) {
        p[N_CLASSES - 1] = logistic(logits[0]);
        p[0] = 1.0 - p[N_CLASSES - 1];
    } else {
        for (int c = 0; c < N_CLASSES; c++) p[c] = logits[c];
        softmax(p);
    }
}
