/* Change probabilities as little as necessary to make the tree's class the most probable. */
static void make_coherent(double *p, int label)
{
    double other = 0.0, total = 0.0, m, root, moved, ratio;
    for (int c = 0; c < N_CLASSES; c++)
        if (c != label && p[c] > other) other = p[c];
    if (other == 0.0) return;
    m = log(p[label] / other);
    root = sqrt(m * m + softness * softness);
    moved = m > 0.0 ? (m + root) / 2.0 : softness * softness / (2.0 * (root + fabs(m)));
    ratio = exp(moved);
    p[label] = other * (ratio > 1.0 + 0x1p-40 ? ratio : 1.0 + 0x1p-40);
    for (int c = 0; c < N_CLASSES; c++) total += p[c];
    for (int c = 0; c < N_CLASSES; c++) p[c] /= total;
}
