"""Tables 1 to 3 of Alvarez, Bernard and Deffuant (2007), typed in from the proceedings.

Values are times 100. The paper calls the number after ± the standard deviation, but it behaves like
the standard error over the 100 samples.
"""

from reproduction.agreement import read_published

# AUC of the global kernel minus that of Laplace: both on reduced-error pruned trees; both on
# normally pruned trees; kernel on normally pruned and Laplace on unpruned trees. Last: minus that
# of NBTree.
TABLE_1 = read_published(
    """
    bupa       0.26±0.77   0.39±0.84   0.03±0.81   0.91±0.93
    glass      1.89±0.85  -0.0±0.7    -1.25±0.67  -1.02±0.78
    iono.      0.63±0.67  -2.2±0.53   -2.56±0.55  -3.02±0.64
    iris       4.70±0.52   3.85±0.46   3.90±0.48   1.99±0.47
    thyroid    4.35±0.71   2.98±0.75   2.48±0.75  -0.57±0.75
    pendigits  0.46±0.05   0.40±0.04   0.28±0.03   0.65±0.05
    pima       2.78±0.58   0.31±0.41   0.41±0.44   0.69±0.54
    sat        1.00±0.12   0.89±0.08   0.28±0.06   1.18±0.09
    segment.   7.95±1.06   5.35±0.86   5.34±0.89   3.77±0.71
    sonar      2.66±0.95   2.07±0.78   1.88±0.80  -2.53|-3.53±1.03
    vehicle    0.42±0.26   0.65±0.20   0.08±0.20   1.97±0.29
    vowel      4.19±0.52   3.09±0.30   2.79±0.28   2.13±0.32
    wdbc       3.75±0.28   2.24±0.23   2.17±0.23   2.20±0.21
    wine       5.35±0.51   3.31±0.36   2.97±0.34   0.25±0.23
    """,
    ["both reduced-error", "both normal", "normal vs unpruned", "kernel vs NBTree"],
)

# MSE of the global kernel (bandwidth 5%, normally pruned trees) minus that of Laplace or NBTree,
# with the p-value of a one-sided Wilcoxon test.
TABLE_2 = read_published(
    """
    bupa      -7.29±0.59  3.9e-16  -1.68±0.88  0.006
    glass      0.79±3.56  0.017     4.19±3.52  0.114
    iono.      1.88±0.27  2.2e-09   1.61±0.77  0.023
    iris      -1.54±0.37  5.3e-4   -0.84±0.65  0.088
    thyroid    1.49±0.71  0.092     6.04±0.82  1.3e-10
    pendigits -0.08±0.01  1.9e-08  -0.19±0.03  2.0e-07
    pima      -5.04±0.30  3.2e-18  -1.39±0.53  0.008
    sat       -0.07±0.03  0.024    -0.20±0.05  5.0e-4
    segment.   0.68±0.39  0.017    -1.46±0.76  0.071
    sonar     -3.29±0.51  5.8e-09   0.34±1.52  0.491
    vehicle    1.99±0.50  5.7e-04   1.63±0.56  0.007
    vowel     -0.12±0.12  0.26      0.69±0.19  1.1e-4
    wdbc      -2.63±0.22  3.8e-17  -2.00±0.40  4.6e-06
    wine      -1.72±0.31  6.2e-08   1.79±0.56  8.3e-4
    """,
    ["kernel vs Laplace", "p", "kernel vs NBTree", "p"],
)

# Kernel inside the separators' subsets (bandwidth 5%, normally pruned trees) minus Laplace: AUC
# with Laplace on normally pruned trees; AUC with Laplace on unpruned trees; MSE with Laplace on
# normally pruned trees, with its p-value.
TABLE_3 = read_published(
    """
    bupa      -2.87±0.82  -3.23±0.80  -1.80±0.88  0.041
    glass     -1.26±0.93  -2.42±0.90   0.38±0.4   0.090
    iono.     -1.74±0.71  -2.07±0.74  -0.42±0.43  0.134
    iris       4.31±0.52   4.37±0.55  -4.09±0.45  2e-13
    thyroid    1.60±0.78   1.09±0.78   0.45±0.59  0.335
    pendigits -1.65±1.09  -1.76±1.09  -0.10±0.01  5e-8
    pima      -3.00±0.64  -2.91±0.64  -2.76±0.51  3e-06
    sat       -0.73±0.74  -1.35±0.75  -0.13±0.03  4e-06
    sonar      1.06±0.79   0.87±0.80  -2.30±0.60  2e-4
    vehicle   -6.04±1.52  -6.61±1.51   2.02±0.45  9e-07
    vowel      0.94±0.91   0.63±0.89   0.00±0.15  0.537
    wdbc       1.56±0.29   1.49±0.30  -2.15±0.28  1e-10
    wine       2.97±0.47   2.63±0.45  -1.63±0.45  5e-06
    """,
    ["both normal", "normal vs unpruned", "MSE, both normal", "p"],
)
