/* The boxes of the regions of the tree, and the distances to them. */
/* Return the squared cost of moving a value inside a side of a box. */
static double side_square(int side, double value)
{
    const int start = side_cost_start[side], n = side_cost_start[side + 1] - start;
    const double *bounds = side_bounds[side];
    double move = 0.0;
    if (n > 0) {
        move = side_cost[start + (value != value ? n - 1 : (int)value)];
    } else if (value == value) {
        const double here = IS_SINGLE ? in_single(value) : value;
        const double from = side_rounded[side] ? in_single(value) : value;
        if (here > bounds[1])
            move = (from - bounds[3]) * bounds[4];
        else if (!(here > bounds[0]))
            move = (bounds[2] - from) * bounds[4];
        move = move < 1e150 ? move : 1e150;
    }
    return move * move;
}

/* Distances to the regions of each class, box by box. */
static void box_distances(const double *x, double *distance)
{
    double squares[N_SIDES_OF_BOXES];
    for (int s = 0; s < N_SIDES_OF_BOXES; s++) squares[s] = side_square(s, x[side_attribute[s]]);
    for (int c = 0; c < N_CLASSES; c++) distance[c] = INFINITY;
    for (int b = 0; b < N_BOXES; b++) {
        double total = 0.0;
        for (int s = box_start[b]; s < box_start[b + 1]; s++) total += squares[box_side[s]];
        if (total < distance[box_label[b]]) distance[box_label[b]] = total;
    }
    for (int c = 0; c < N_CLASSES; c++) distance[c] = sqrt(distance[c]);
}
