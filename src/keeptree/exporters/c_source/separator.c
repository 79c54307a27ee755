/* The test that lies between a row and the nearest region of another class. */
static double without_bits(double value)
{
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    bits = bits >> REGION_BITS << REGION_BITS;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* Limit a number to the range of the program; keep the code of a category. */
static double limited_value(int k, double value)
{
    const double reach = region_reach[k];
    if (value != value) return used_codes[k] > 0 ? used_codes[k] : NAN;
    if (used_rounded[k]) value = in_single(value);
    return value < -reach ? -reach : value > reach ? reach : value;
}

/* What a bound that moved inward by a width adds to a squared distance. */
static double growth_beyond(double gap, double width, double scale)
{
    if (!(gap > 0.0)) return 0.0;
    gap = gap * scale;
    const double moved = gap < width ? gap : width, twice = 2.0 * gap, rest = twice - moved;
    return moved * rest;
}

/* The nearest region of a class other than label; -1 if none. */
static int nearest_region(const double *x, int label)
{
    double here[N_USED], slots[N_REGION_SLOTS] = {0.0}, found[N_REGIONS + 1], best = INFINITY;
    int region = -1;
    for (int k = 0; k < N_USED; k++) here[k] = limited_value(k, x[used_attribute[k]]);
    for (int r = 0; r <= N_REGIONS; r++) found[r] = INFINITY;
    for (int e = 0; e < N_REGION_STEPS; e++) {
        const int *step = region_steps[e], code = step[0];
        const double *bound = region_bounds[e], value = here[step[1]], before = slots[step[2]];
        double above, below;
        if (code & 8) {
            above = before + region_growth[step[7] + (int)value];
        } else {
            const double gap = value - bound[0];
            above = growth_beyond(gap, bound[1], bound[3]);
            below = growth_beyond(-gap, -bound[2], bound[3]);
            above = before + above;
            below = before + below;
            *(code & 4 ? &found[step[6]] : &slots[step[4]]) = below;
        }
        *(code & 2 ? &found[step[5]] : &slots[step[3]]) = above;
    }
    for (int r = 0; r < N_REGIONS; r++) {
        const double squared = without_bits(found[r + 1]);
        if (region_label[r] != label && squared < best) {
            best = squared;
            region = r;
        }
    }
    return region;
}

/* How far a value lies outside a side (-1: inside), and the test that it fails. */
static double outside_side(const side *s, double value, int *test)
{
    *test = -1;
    if (s->n_codes > 0) {
        const int at = s->first + (value != value ? s->n_codes - 1 : (int)value);
        *test = category_test[at];
        return category_cost[at];
    }
    if (value != value) {
        *test = s->missing_test;
        return 0.0;
    }
    double gap;
    if (s->rounded) value = in_single(value);
    if (value > s->upper) {
        *test = s->upper_test;
        gap = (value - s->upper) * s->factor;
    } else if (value > s->lower) {
        return -1.0;
    } else {
        *test = s->lower_test;
        gap = (s->lower - value) * s->factor;
    }
    return gap < 1e150 ? gap : 1e150;
}

/* The test of the side of a box that the row violates most. */
static int crossed_test(const side *sides, int n, const double *x)
{
    double largest = -1.0;
    int crossed = -1, test;
    for (int s = 0; s < n; s++) {
        const double size = outside_side(&sides[s], x[sides[s].attribute], &test);
        if (size > largest) {
            largest = size;
            crossed = test;
        }
    }
    return crossed;
}

#if ON_GRID
/* What it costs to move a value into a side; -1 if it may stay, infinite if it cannot. */
static double move_price(const side *s, double value)
{
    const double at = COMPARED(value);
    if (value != value) return -1.0;
    if (s->n_codes > 0) return category_cost[s->first + (int)value];
    if (s->low <= at && at <= s->high) return -1.0;
    const double target = at < s->low ? s->rises_to : s->falls_to;
    return target != target ? INFINITY : fabs(target - value) * s->factor;
}

/* The cheapest box of another class; of equal ones, the one with the fewest changes. */
static int cheapest_box(const double *x, int label)
{
    double best = INFINITY;
    int region = -1, fewest = 0;
    for (int r = 0; r < N_OFF_GRID; r++) {
        double total = 0.0;
        int changes = 0;
        for (int s = off_grid_start[r]; s < off_grid_start[r + 1]; s++) {
            const double size = move_price(&off_grid_sides[s], x[off_grid_sides[s].attribute]);
            const double move = size < 1e150 ? size : 1e150, square = move * move;
            if (size < 0.0) continue;
            total = size < INFINITY ? total + square : INFINITY;
            changes++;
        }
        if (off_grid_label[r] == label || !(total < INFINITY)) continue;
        if (total < best || (total == best && changes < fewest)) {
            best = total;
            fewest = changes;
            region = r;
        }
    }
    return region;
}
#endif

static int nearest_separator(const double *x, int label)
{
    const side *sides = region_sides;
    const int *start = region_start;
    int region;
#if ON_GRID
    if (is_beside(x)) {
        region = cheapest_box(x, label);
        sides = off_grid_sides;
        start = off_grid_start;
    } else
#endif
        region = nearest_region(x, label);
    return region < 0 ? -1 : crossed_test(&sides[start[region]], start[region + 1] - start[region], x);
}

static void separator_probability(const double *x, int label, double *p)
{
    const int node = nearest_separator(x, label);
    curve_shares(x, leaf_curve[node < 0 ? N_NODES : node], p);
}
