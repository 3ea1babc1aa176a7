"""Random dithering with s levels in the units of the largest coordinate: omega = (sqrt(1 + (d - 1)/s^2) - 1)/2.

A coordinate |x_j|/max|x| between two levels l/s and (l + 1)/s is rounded to one of them at random, without bias.
Source: Alistarh and others, QSGD (2017), Lemma 3.1, and Wen and others, TernGrad (2017), for the largest coordinate;
the constant is the exact one of this rounding.
"""

from fractions import Fraction

import numpy as np
import sympy

import fedtheory as ft


def levels(x, s):
    """The largest coordinate, and of each the level below it with the probability of the one above."""
    largest = abs(x).max(axis=-1, keepdims=True)
    at = s * abs(x) / np.where(largest == 0, 1, largest)
    return largest, at // 1, at - at // 1


def dithering(d, s):
    def apply(draw, x):
        largest, below, up = levels(x, s)
        return np.sign(x) * largest / s * (below + (draw < up))

    def enumerate_outcomes(x):
        largest, below, up = levels(x, s)
        ups, _ = ft.Independent(ft.Bernoulli(Fraction(1, 2)), d).support()
        return np.sign(x) * largest / s * (below + ups), np.where(ups, up, 1 - up).prod(axis=-1)

    omega = ((1 + Fraction(d - 1, s**2)) ** Fraction(1, 2) - 1) / 2
    return ft.Compressor("dithering", d, ft.Uniform01((d,)), apply, omega, enumerate=enumerate_outcomes)


def omega(share):
    return share * (sympy.sqrt(1 + (ft.d - 1) / ft.k**2) - 1) / 2


CLAIMS = (
    ft.compressor_claim("dithering/omega", dithering, omega=omega(1)),
    ft.compressor_claim("dithering/less", dithering, omega=omega(sympy.Rational(99, 100))),
)
