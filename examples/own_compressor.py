"""A compressor of one's own: every coordinate is kept with probability k/d by a coin of its own."""

from fractions import Fraction

import numpy as np

import fedtheory as ft


def kept(d, k):
    def apply(draw, x):
        return np.where(draw, x * Fraction(d, k) if x.dtype == object else x * d / k, 0 * x)

    coins = ft.Independent(ft.Bernoulli(Fraction(k, d)), d)
    return ft.Compressor(f"kept({k} of {d})", d, coins, apply, Fraction(d, k) - 1, 33 * d)


CLAIMS = (
    ft.compressor_claim("kept/omega", kept, omega=ft.d / ft.k - 1, bits=33 * ft.d),
    ft.compressor_claim("kept/less", kept, omega=ft.d / ft.k - 1 - ft.d / (100 * ft.k), bits=33 * ft.d),
)
