"""A compressor of one's own: every coordinate is kept with probability k/d by a coin of its own."""

from fractions import Fraction

import numpy as np

from fedtheory import Bernoulli, Compressor, Independent, compressor_claim, d, k


def kept(d, k):
    def apply(draw, x):
        return np.where(draw, x * Fraction(d, k) if x.dtype == object else x * d / k, 0 * x)

    return Compressor(
        f"kept({k} of {d})", d, Independent(Bernoulli(Fraction(k, d)), d), apply, Fraction(d, k) - 1, 33 * d
    )


CLAIMS = (
    compressor_claim("kept/omega", kept, omega=d / k - 1, bits=33 * d),
    compressor_claim("kept/less", kept, omega=d / k - 1 - d / (100 * k), bits=33 * d),
)
