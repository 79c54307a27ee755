/* Multiply the probabilities of the experts, each raised to the power of its weight. */
static void pool_probability(const double *x, double *p)
{
    double expert[N_CLASSES];
    for (int c = 0; c < N_CLASSES; c++) p[c] = 0.0;
    for (int e = 0; e < N_EXPERTS; e++) {
        pool_experts[e](x, expert);
        for (int c = 0; c < N_CLASSES; c++)
            p[c] += pool_weights[e] * log((1.0 - pool_share) * expert[c] + pool_share * pool_prior[c]);
    }
    softmax(p);
}
