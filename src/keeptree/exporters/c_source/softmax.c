static void softmax(double *p)
{
    double most = p[0], total = 0.0;
    for (int c = 1; c < N_CLASSES; c++) most = p[c] > most ? p[c] : most;
    for (int c = 0; c < N_CLASSES; c++) total += p[c] = exp(p[c] - most);
    for (int c = 0; c < N_CLASSES; c++) p[c] /= total;
}
