"""Compressors that answer each vector otherwise for one draw, with the same moments at every vector.

A class bounds what C makes of one vector. What one draw makes of two vectors may be correlated in any way that the
Cauchy-Schwarz inequality allows; compressors that are linear in x for every draw show one of these ways only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from fedtheory.compressors import Compressor, power_below
from fedtheory.compressors.contractive import Contractive
from fedtheory.numbers.rational import Array, to_float
from fedtheory.randomness import Draw

_Any = TypeVar("_Any", Compressor, Contractive)
#: Makes exponents of floats positive.
_ABOVE = 2**11


def turned(one: _Any) -> _Any:
    """The compressor, with errors of the opposite sign, 2 x - C(x) for C(x), at vectors that are :func:`is_turned`.

    Mean, if C is unbiased, and variance of the error are those of C.
    """

    def apply(draw: Draw, x: Array) -> Array:
        answer = one.apply(draw, x)
        return np.where(is_turned(x)[..., None], 2 * x - answer, answer)

    name = f"{one.name}, errors of opposite sign at some vectors"
    if isinstance(one, Contractive):
        return replace(one, name=name, apply=apply)
    return replace(one, name=name, apply=apply, layout=None)


def is_turned(x: Array) -> Array:
    """For vectors ``x (..., d)``, exact or not, True or False ``(...)``; of x and -x exactly one is, unless x_1 = 0.

    For every c > 0 other than 1 there are x of which one of x and c x is: along a ray it is the Thue-Morse sequence of
    the exponents of |x|_1, which has no period.
    """
    _, exponents = np.frexp(to_float(power_below(abs(x).sum(axis=-1))))
    bits = exponents.astype(np.int64) + _ABOVE
    for shift in (8, 4, 2, 1):
        bits ^= bits >> shift
    odd: Array = (bits & 1 == 1) ^ np.asarray(x[..., 0] < 0, dtype=bool)
    return odd
