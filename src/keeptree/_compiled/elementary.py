"""exp, log and log1p in plain arithmetic: the same bits on every processor, and vectorised.

The versions of the C library and of NumPy differ in the last bit between processors. These
functions round every step separately, so only the order of operations matters, and it is fixed
here. All results are within 1.1 units in the last place.
"""

import math

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import inlined

# Adding this to a number of up to 2^51 rounds it to an integer, found in the low bits of the sum.
_WHOLE = 1.5 * 2.0**52
_WHOLE_BITS = int(np.float64(_WHOLE).view(np.int64))
_PER_LOG_2 = 1.0 / math.log(2.0)
# log(2) as a sum; the first part ends in zeros, so its product with an exponent is exact.
_LOG_2_HIGH, _LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LEAST_EXPONENT, _MOST_EXPONENT = -708.0, 709.0  # beyond these limits exp is 0 or infinite
_HALF_ROOT_BITS = int(np.float64(math.sqrt(0.5)).view(np.int64))
_TWO_52_BITS = int(np.float64(2.0**52).view(np.int64))


@inlined
def exp(x):
    """Return the exponential of x; 0 below -708, infinite above 709."""
    bounded = min(max(x, _LEAST_EXPONENT), _MOST_EXPONENT)
    shifted = bounded * _PER_LOG_2 + _WHOLE
    k = shifted - _WHOLE
    r = (bounded - k * _LOG_2_HIGH) - k * _LOG_2_LOW  # at most log(2) / 2 in absolute value
    e = 1.0 / 6227020800.0  # the Taylor series, up to the 13th power
    e = e * r + 1.0 / 479001600.0
    e = e * r + 1.0 / 39916800.0
    e = e * r + 1.0 / 3628800.0
    e = e * r + 1.0 / 362880.0
    e = e * r + 1.0 / 40320.0
    e = e * r + 1.0 / 5040.0
    e = e * r + 1.0 / 720.0
    e = e * r + 1.0 / 120.0
    e = e * r + 1.0 / 24.0
    e = e * r + 1.0 / 6.0
    e = e * r + 0.5
    e = (e * r) * r + r + 1.0
    power = int64((float64(shifted).view(int64) - _WHOLE_BITS + 1023) << 52).view(float64)  # 2^k
    result = e * power
    result = result if x >= _LEAST_EXPONENT else 0.0
    result = result if x <= _MOST_EXPONENT else math.inf
    return result if x == x else x


@inlined(error_model="numpy")
def log(x):
    """Return the natural logarithm of a positive number that is not subnormal, or of infinity.

    As in fdlibm: x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), and the series of
    log((1 + s) / (1 - s)) for s = f / (2 + f).
    """
    bits = float64(x).view(int64) - _HALF_ROOT_BITS
    # The bits become a float without a conversion, which few vector units offer for 64-bit
    # integers.
    k = int64(((bits >> 52) + 2048) | _TWO_52_BITS).view(float64) - (2.0**52 + 2048.0)
    f = int64((bits & 0xFFFFFFFFFFFFF) + _HALF_ROOT_BITS).view(float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    r = 1.479819860511658591e-01
    r = r * z + 1.531383769920937332e-01
    r = r * z + 1.818357216161805012e-01
    r = r * z + 2.222219843214978396e-01
    r = r * z + 2.857142874366239149e-01
    r = r * z + 3.999999999940941908e-01
    r = r * z + 6.666666666666735130e-01
    half = 0.5 * f * f
    result = k * _LOG_2_HIGH - ((half - (s * (half + r * z) + k * _LOG_2_LOW)) - f)
    return result if x < math.inf else x


@inlined(error_model="numpy")
def log1p(x):
    """Return log(1 + x) for x >= 0, with full precision for small x."""
    u = 1.0 + x
    lost = (x - (u - 1.0)) / u
    return log(u) + lost if x < math.inf else x
