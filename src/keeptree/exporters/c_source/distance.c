/* The distance kernel: distances to the decision boundary, and the curves of the classes on them. */
/* Centre and scale a number; keep the code of a category. */
static float scaled_value(int k, double value)
{
    if (value != value) return used_codes[k] > 0 ? (float)used_codes[k] : NAN;
    if (used_rounded[k]) value = in_single(value);
    const float reach = (float)used_reach[k];
    const float scaled = (float)(value - used_center[k]) * (float)used_factor[k];
    return scaled < -reach ? -reach : scaled > reach ? reach : scaled;
}

/* What a bound that moved inward by a width adds to a squared distance. */
static float beyond(float gap, float width)
{
    if (!(gap > 0.0f)) return 0.0f;
    const float moved = gap < width ? gap : width, twice = 2.0f * gap, rest = twice - moved;
    return moved * rest;
}

/* Store a squared distance: the smallest of a class, or that of a box that is split again. */
static void keep_nearest(float *slots, float *best, int is_region, int at, float squared)
{
    if (!is_region)
        slots[at] = squared;
    else if (squared < best[at])
        best[at] = squared;
}

/* Distances to the regions of each class, computed step by step in float32. */
static void step_distances(const double *x, double *distance)
{
    float here[N_USED], slots[N_SLOTS] = {0.0f}, best[N_CLASSES + 1];
    for (int k = 0; k < N_USED; k++) here[k] = scaled_value(k, x[used_attribute[k]]);
    for (int c = 0; c <= N_CLASSES; c++) best[c] = INFINITY;
    for (int e = 0; e < N_STEPS; e++) {
        const int *step = step_codes[e], code = step[0];
        const float value = here[step[1]], before = slots[step[2]];
        if (code & 8) {
            const float added = step_growth[step[5] + (int)value];
            keep_nearest(slots, best, code & 2, step[3], before + added);
            continue;
        }
        const float gap = value - step_bounds[e][0];
        const float above = beyond(gap, step_bounds[e][1]), below = beyond(-gap, -step_bounds[e][2]);
        keep_nearest(slots, best, code & 2, step[3], before + above);
        keep_nearest(slots, best, code & 4, step[4], before + below);
    }
    for (int c = 0; c < N_CLASSES; c++) distance[c] = (float)sqrt((double)best[c]);
}

/* The share of a class at a distance: a cubic piece of a curve. */
static double curve_share(int curve, double h)
{
    const double *axis = curve_axis[curve], middle = axis[3];
    double y, place = (h - axis[0]) * axis[1];
    int first;
    if (place >= 0.0 && place < axis[5]) { /* cells with equally many pieces */
        first = (int)axis[7];
        y = place * axis[6];
    } else {
        if (place < 0.0)
            place = -log1p(-place);
        else if (place > middle)
            place = middle + log1p(place - middle);
        place += axis[2];
        place = place > 0.0 ? place : 0.0;
        place = place < axis[4] ? place : axis[4];
        const int cell = curve_cell[curve] + (int)place;
        first = curve_piece[cell];
        y = (place - (int)place) * (curve_piece[cell + 1] - first);
    }
    const float *c = curve_coefficient[first + (int)y];
    y -= (int)y;
    const double share = c[0] + y * (c[1] + y * (c[2] + y * c[3]));
    return share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
}

/* Look up the share of each class at its distance, and normalise. */
static void curve_shares(const double *x, int curve, double *p)
{
    double distance[N_CLASSES];
#if ON_GRID
    if (is_beside(x))
        box_distances(x, distance);
    else
#endif
        step_distances(x, distance);
#if TWO_CLASSES
    p[0] = curve_share(curve, (float)(distance[0] - distance[1]));
    p[1] = 1.0 - p[0];
#else
    double nearest = INFINITY, second = INFINITY, total = 0.0;
    for (int c = 0; c < N_CLASSES; c++) {
        const double d = distance[c], larger = d > nearest ? d : nearest;
        second = larger < second ? larger : second;
        nearest = d < nearest ? d : nearest;
        p[c] = prior[c];
    }
    for (int j = 0; j < N_ESTIMATED; j++) {
        const int c = estimated[j];
        const float h = (float)(distance[c] > 0.0 ? distance[c] : -second);
        p[c] = curve_share(curve + j * N_CURVES, h) + 1e-9 * prior[c];
    }
    for (int c = 0; c < N_CLASSES; c++) total += p[c];
    for (int c = 0; c < N_CLASSES; c++) p[c] /= total;
#endif
}

#if !BY_SEPARATOR
static void distance_probability(const double *x, double *p)
{
#if BY_LEAF
    curve_shares(x, leaf_curve[find_leaf(x)], p);
#else
    curve_shares(x, 0, p);
#endif
}
#endif
