/* Return whether any number is not a multiple of its column's step. */
static int is_beside(const double *x)
{
    for (int k = 0; k < N_GRIDDED; k++) {
        const double value = x[grid_attribute[k]], step = grid_step[k], inverse = grid_inverse[k];
        if (value != value) continue;
        const double nearest = rint(inverse != 0.0 ? value * inverse : value / step);
        if ((inverse != 0.0 ? nearest / inverse : nearest * step) != value) return 1;
    }
    return 0;
}
