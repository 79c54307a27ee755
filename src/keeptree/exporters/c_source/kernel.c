static double bounded(double value)
{
    return value < -1e18 ? -1e18 : value > 1e18 ? 1e18 : value;
}

/* A value as a coordinate: a line, and a bend at each threshold of the tree. */
static float coordinate(int k, double value)
{
    double place;
    if (value != value) return NAN;
    if (kernel_table_start[k + 1] > kernel_table_start[k])
        return (float)kernel_table[kernel_table_start[k] + (int)value];
    place = bounded((value - kernel_center[k]) * kernel_factor[k]);
    for (int e = kernel_bend_start[k]; e < kernel_bend_start[k + 1]; e++) {
        const double u = bounded((value - kernel_bends[e][0]) * kernel_slope[k]);
        place += kernel_bends[e][1] * (u / sqrt(1.0 + u * u));
    }
    return (float)place;
}

/* Sums over the landmarks of each class, in float32: no product may be fused with a sum. */
static void kernel_probability(const double *x, double *p)
{
    float here[N_COORDINATES + 1];
    double all = 0.0;
    for (int k = 0; k < N_COORDINATES; k++) here[k] = coordinate(k, x[kernel_attribute[k]]);
    for (int c = 0; c < N_CLASSES; c++) {
        float total = 0.0f;
        for (int e = kernel_start[c]; e < kernel_start[c + 1]; e++) {
            float distance = 0.0f, bell;
            for (int k = 0; k < N_COORDINATES; k++) {
                const float u = here[k] - kernel_landmarks[e][k];
                const float apart = KERNEL_LAPLACE ? fabsf(u) : u * u;
                if (u == u) distance = distance + apart;
            }
            bell = kernel_sharpness[e] * distance;
            bell = 1.0f - bell;
            if (!(bell > 0.5f)) continue;
            for (int k = 0; k < 6; k++) bell = bell * bell;
            bell = kernel_mass[e] * bell;
            total = total + bell;
        }
        p[c] = total + kernel_pseudo * kernel_prior[c];
    }
    for (int c = 0; c < N_CLASSES; c++) all += p[c];
    for (int c = 0; c < N_CLASSES; c++) p[c] /= all;
}
