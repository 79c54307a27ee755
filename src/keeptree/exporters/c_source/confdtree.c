/* ConfDTree: the probabilities of the leaf, corrected on the way to the root. */
static void walk_up(int node, const double *x, int checks, double *p);

static void add_weighted(double weight, const double *below, double *p, double *total)
{
    for (int c = 0; c < N_CLASSES; c++) p[c] += weight * below[c];
    *total += weight;
}

/* Return whether a value lies in an interval of a class, or a category is typical of it. */
static int is_usual(int check, int c, double value, int other)
{
    const int k = check * N_CLASSES + c, start = usual_start[check];
    const double *bounds = other ? other_bounds[k] : interval_bounds[k];
    if (usual_start[check + 1] > start)
        return (usual[start + (int)value * N_CLASSES + c] & (other ? 2 : 1)) > 0;
    return bounds[0] <= value && value <= bounds[1];
}

/* The class of the largest probability, of ties the first declared. */
static int leading_class(const double *p)
{
    double most = p[0];
    for (int c = 1; c < N_CLASSES; c++) most = p[c] > most ? p[c] : most;
    for (int k = 0; k < N_CLASSES; k++)
        if (p[tree_declared[k]] >= most - 1e-12) return tree_declared[k];
    return 0;
}

/* Move part of the largest probability to the other classes of the node. */
static void impose_fine(int check, int leader, double *p)
{
    const double *gets = receives + check * N_CLASSES, amount = fine[leader] * p[leader];
    double total = 0.0;
    for (int c = 0; c < N_CLASSES; c++)
        if (TO_ALL || c != leader) total += gets[c];
    if (total == 0.0 || amount == 0.0) return;
    p[leader] -= amount;
    for (int c = 0; c < N_CLASSES; c++)
        if (TO_ALL || c != leader) p[c] += amount * gets[c] / total;
}

/* Probabilities after a check: unchanged, from alternative routes, or after a fine. */
static void correct(int node, int taken, double value, const double *x, double *p)
{
    const int check = check_of[node], leader = leading_class(p), first = tree_child_start[node];
    const int n = tree_child_start[node + 1] - first;
    double mixed[N_CLASSES] = {0.0}, below[N_CLASSES], total = 0.0;
    int is_other[N_CLASSES], n_others = 0, n_routes = 0;
    if (!has_interval[check * N_CLASSES + leader] || is_usual(check, leader, value, 0)) return;
    for (int c = 0; c < N_CLASSES; c++)
        n_others += is_other[c] = c != leader && is_usual(check, c, value, 1);
    if (n_others == 0) {
        impose_fine(check, leader, p);
        return;
    }
    for (int b = 0; b < n; b++) {
        const int child = tree_child[first + b];
        double weight = 0.0;
        for (int c = 0; c < N_CLASSES; c++)
            if (is_other[c]) weight += route_weight[weight_start[check] + b * N_CLASSES + c];
        if (child == taken) {
            add_weighted(weight, p, mixed, &total);
        } else if (weight > 0.0) {
            walk_up(child, x, 1, below);
            add_weighted(weight, below, mixed, &total);
            n_routes++;
        }
    }
    for (int c = 0; c < N_CLASSES && n_routes > 0; c++) p[c] = mixed[c] / total;
}

/* Probabilities below a node; checks: whether to check its tests. */
static void walk_up(int node, const double *x, int checks, double *p)
{
    const int first = tree_child_start[node], n = tree_child_start[node + 1] - first;
    for (int c = 0; c < N_CLASSES; c++) p[c] = n == 0 ? leaf_values[node * N_CLASSES + c] : 0.0;
    if (n == 0) return;
    const double value = COMPARED(x[tree_attribute[node]]);
    if (value != value && tree_missing[node] >= 0) {
        walk_up(tree_missing[node], x, 0, p);
    } else if (value != value) {
        double below[N_CLASSES], total = 0.0;
        for (int e = first; e < first + n; e++) {
            if (tree_share[tree_child[e]] <= 0.0) continue;
            walk_up(tree_child[e], x, 0, below);
            add_weighted(tree_share[tree_child[e]], below, p, &total);
        }
        for (int c = 0; c < N_CLASSES; c++) p[c] /= total;
    } else {
        const int start = tree_table_start[node];
        const int taken = start >= 0 ? tree_table[start + (int)value]
                                     : tree_child[first + (value <= tree_threshold[node] ? 0 : 1)];
        walk_up(taken, x, checks, p);
        if (checks && check_of[node] >= 0) correct(node, taken, value, x, p);
    }
}

static void confdtree_probability(const double *x, double *p)
{
    double total = 0.0;
    walk_up(0, x, 1, p);
    for (int c = 0; c < N_CLASSES; c++) total += p[c];
    for (int c = 0; c < N_CLASSES; c++) p[c] /= total;
}
