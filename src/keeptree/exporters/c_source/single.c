/* Round a number to float32 without overflow. */
static double in_single(double value)
{
    const double most = 3.4028234663852886e38;
    return (float)(value < -most ? -most : value > most ? most : value);
}
