/* Missing values that are shared among the children: the row ends in several leaves. */
static void add_shares(const double *values, int node, double share, const double *x, double *out)
{
    const int first = tree_child_start[node], n = tree_child_start[node + 1] - first;
    if (n == 0) {
        for (int c = 0; c < N_CLASSES; c++) out[c] += share * values[node * N_CLASSES + c];
        return;
    }
    const double value = COMPARED(x[tree_attribute[node]]);
    if (value != value && tree_missing[node] >= 0) {
        add_shares(values, tree_missing[node], share, x, out);
    } else if (value != value) {
        for (int e = first; e < first + n; e++)
            if (tree_share[tree_child[e]] > 0.0)
                add_shares(values, tree_child[e], share * tree_share[tree_child[e]], x, out);
    } else if (tree_table_start[node] >= 0) {
        add_shares(values, tree_table[tree_table_start[node] + (int)value], share, x, out);
    } else {
        add_shares(values, tree_child[first + (value <= tree_threshold[node] ? 0 : 1)], share, x, out);
    }
}

static void mix(const double *values, const double *x, double *out)
{
    double total = 0.0;
    for (int c = 0; c < N_CLASSES; c++) out[c] = 0.0;
    add_shares(values, 0, 1.0, x, out);
    for (int c = 0; c < N_CLASSES; c++) total += out[c];
    for (int c = 0; c < N_CLASSES; c++) out[c] /= total;
}

/* Return whether a row meets a test that shares its missing value among the children. */
static int is_mixed(const double *x)
{
    int node = 0;
    while (tree_child_start[node + 1] > tree_child_start[node]) {
        const double value = COMPARED(x[tree_attribute[node]]);
        if (value != value && tree_missing[node] < 0) return tree_missing[node] == -1;
        if (value != value)
            node = tree_missing[node];
        else if (tree_table_start[node] >= 0)
            node = tree_table[tree_table_start[node] + (int)value];
        else
            node = tree_child[tree_child_start[node] + (value <= tree_threshold[node] ? 0 : 1)];
    }
    return 0;
}

/* Return the class with the largest share; a later one must be larger by 1e-6, as in J48. */
static int decide_mixed(const double *x)
{
    double shares[N_CLASSES], best = 0.0;
    int chosen = tree_declared[0];
    mix(tree_proportions, x, shares);
    for (int k = 0; k < N_CLASSES; k++) {
        const int c = tree_declared[k];
        if (shares[c] - best > 1e-6) {
            best = shares[c];
            chosen = c;
        }
    }
    return chosen;
}
