/* The geometric ranking: scores by the distance to the decision boundary, positive inside a class. */
static void geometric_scores(const double *x, int label, double *score)
{
    const double least = 0x1p-1022, most = 1e150;
    double distance[N_CLASSES], nearest = INFINITY, second = INFINITY, smallest = INFINITY;
    box_distances(x, distance);
    for (int c = 0; c < N_CLASSES; c++) {
        const double d = distance[c], larger = d > nearest ? d : nearest;
        second = larger < second ? larger : second;
        nearest = d < nearest ? d : nearest;
    }
    for (int c = 0; c < N_CLASSES; c++) {
        double s = distance[c] > 0.0 ? -distance[c] : second;
        if (N_CLASSES == 2) s = distance[N_CLASSES - 1 - c] - distance[c];
        s = s < -most ? -most : s > most ? most : s;
        /* On the boundary, or with a missing value, the decision of the tree gives the sign. */
        if (c == label)
            s = s > least ? s : least;
        else
            s = s < -least ? s : -least;
        smallest = fabs(s) < smallest ? fabs(s) : smallest;
        score[c] = s;
    }
    for (int c = 0; IS_WHOLE && c < N_CLASSES; c++) score[c] = score[c] > 0.0 ? smallest : -smallest;
}

static void rank_score(const double *x, int leaf, int label, double *score)
{
    geometric_scores(x, label, score);
#if IS_LOCAL
    double p[N_CLASSES], gap[N_CLASSES];
    for (int c = 0; c < N_CLASSES; c++) {
        p[c] = leaf_values[leaf * N_CLASSES + c];
        gap[c] = leaf_gaps[leaf * N_CLASSES + c];
    }
#if SHARES
    if (is_mixed(x)) {
        mix(leaf_values, x, p);
        for (int c = 0; c < N_CLASSES; c++) gap[c] = 0.0;
        add_shares(leaf_gaps, 0, 1.0, x, gap);
    }
#endif
    for (int c = 0; c < N_CLASSES; c++)
        score[c] = p[c] - 0.5 + gap[c] * (score[c] / (1.0 + fabs(score[c])));
#else
    (void)leaf;
#endif
}
