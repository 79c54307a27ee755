/* Soft tests: a row is divided among the children of every test. */
typedef struct {
    const int *attribute, *child_start, *child, *table_start; /* table_start is -1 for a number */
    const double *threshold, *missing, *table;
    int root;
} test_set;

static double logistic(double z)
{
    z = z < -40.0 ? -40.0 : z > 40.0 ? 40.0 : z;
    return 1.0 / (1.0 + exp(-z));
}

/* Share that a test gives one of its children. */
static double child_share(const test_set *tests, int node, int branch, double steep, const double *x)
{
    const int at = tests->attribute[node], start = tests->table_start[node];
    const double value = COMPARED(x[at]);
    double first;
    if (start >= 0) {
        const int width = tests->child_start[node + 1] - tests->child_start[node];
        const int code = value == value ? (int)value : n_categories[at];
        return tests->table[start + code * width + branch];
    }
    if (value != value || steep < 0.0)
        first = tests->missing[node];
    else if (steep == 0.0)
        first = value <= tests->threshold[node] ? 1.0 : 0.0;
    else
        first = logistic((tests->threshold[node] - value) * steep);
    return branch == 0 ? first : 1.0 - first;
}

/* Values of the leaves below a node, averaged by the share of the row in each. */
static void soft_average(const test_set *tests, const double *steep, const double *values, int width,
                         int node, const double *x, double *out)
{
    double below[N_CLASSES];
    const int first = tests->child_start[node], n = tests->child_start[node + 1] - first;
    for (int j = 0; j < width; j++) out[j] = n == 0 ? values[node * width + j] : 0.0;
    for (int b = 0; b < n; b++) {
        const double share = child_share(tests, node, b, steep[node], x);
        soft_average(tests, steep, values, width, tests->child[first + b], x, below);
        for (int j = 0; j < width; j++) out[j] += share * below[j];
    }
}
