"""Compressors that answer each vector otherwise for one draw, with the same moments at every vector.

A class bounds what C makes of one vector. What one draw makes of two vectors may be correlated in any way that the
Cauchy-Schwarz inequality allows; compressors that are linear in x for every draw show one of these ways only.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from fedtheory.compressors import Compressor, power_below
from fedtheory.compressors.contractive import Contractive
from fedtheory.numbers.rational import Array, is_exact, to_float
from fedtheory.randomness import Draw

_Any = TypeVar("_Any", Compressor, Contractive)
#: Makes exponents of floats positive.
_ABOVE = 2**11
#: The number of parts between two powers of two.
_PARTS = 2**16
#: The offset by which no simple fraction is at the end of a part, where floats err.
_BESIDE = Fraction(10271828, 10**7)


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

    Along a ray it is the Thue-Morse sequence of the exponents of |x|_1, and of its next bits: it has no period, and of
    x and c x, for a c > 0 other than 1 that is not nearer to 1 than these bits can show, one is at about half of all x.
    """
    size = abs(x).sum(axis=-1)
    size = size * (_BESIDE if is_exact(x) else float(_BESIDE))
    power = power_below(size)
    _, exponents = np.frexp(to_float(power))
    parts = np.floor(_PARTS * to_float(size / power)).astype(np.int64)
    odd: Array = _is_odd(exponents.astype(np.int64) + _ABOVE) ^ _is_odd(parts)
    return odd ^ np.asarray(x[..., 0] < 0, dtype=bool)


def _is_odd(numbers: Array) -> Array:
    """True where a number has an odd number of binary digits 1: integers below 2^32."""
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return numbers & 1 == 1
