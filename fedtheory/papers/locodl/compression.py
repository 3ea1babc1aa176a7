"""LoCoDL: compressors, eqs. (2) and (3), and n vectors that are compressed at once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import sympy

from fedtheory import compressors
from fedtheory.classes import UnbiasedCompressors
from fedtheory.compressors import Family as Compressors
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.numbers.rational import Array, is_exact
from fedtheory.papers.locodl.lifted import Lifted, origin
from fedtheory.papers.locodl.setting import d, k, n, omega, section
from fedtheory.randomness import expectation, support_of
from fedtheory.settings import COMPRESSOR, Drawing, Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity


class CompressionParams(NamedTuple):
    """``compressors``: the family at work."""

    compressors: Compressors


COMPRESSION = Setting(
    "a family of n compressors in U(omega); x_1, ..., x_n in R^d",
    letters={n: lambda problem, params: params.compressors.n, omega: "omega"},
    algorithm=points(Lifted, CompressionParams, origin),
    # omega_av may be unknown where it is asked for.
    adversaries=(UnbiasedCompressors(),),
    drawing=Drawing(classes_stated=True, sweep={"omega": ("1/8", "1/2", 1, 3, 10), "n": (1, 2, 3, 4)}),
)
_INDEPENDENT = UnbiasedCompressors(independent=True)
INDEPENDENT = replace(
    COMPRESSION,
    text="a family of n mutually independent compressors in U(omega); x_1, ..., x_n in R^d",
    adversaries=(_INDEPENDENT,),
)


def compressed(params: CompressionParams, x: Array) -> tuple[Array, Array]:
    """C_i(x_i) for every draw, ``(..., K, n, d)``, and the probabilities."""
    draws, probabilities = support_of(params.compressors.draws, is_exact(x))
    return params.compressors.apply(draws, x[..., None, :, :]), probabilities


def _mean_error(problem: object, params: CompressionParams, state: Lifted) -> Array:
    """E|(1/n) sum_i (C_i(x_i) - x_i)|^2."""
    values, probabilities = compressed(params, state.x)
    error = (values - state.x[..., None, :, :]).sum(axis=-2) / state.x.shape[-2]
    return expectation((error**2).sum(axis=-1), probabilities)


def compressed_norm(problem: object, params: CompressionParams, state: Lifted) -> Array:
    """E sum_i |C_i(x_i - y)|^2."""
    values, probabilities = compressed(params, state.x - state.y[..., None, :])
    return expectation((values**2).sum(axis=(-1, -2)), probabilities)


def _mean_square(problem: object, params: object, state: Lifted) -> Array:
    """(1/n) sum_i |x_i|^2."""
    return (state.x**2).sum(axis=(-1, -2)) / state.x.shape[-2]


MEAN_ERROR = Quantity("E|(1/n) sum_i(C_i(x_i)-x_i)|^2", _mean_error)
MEAN_SQUARE = Quantity("(1/n) sum_i|x_i|^2", _mean_square)
COMPRESSED_NORM = Quantity("E sum_i|C_i(x_i-y)|^2", compressed_norm)

section_4 = section("Section 4", COMPRESSOR, id="eq-2")
section_13 = section("Section 1.3", COMPRESSION, id="eq-3")
_index_bits = sympy.ceiling(sympy.log(d, 2))

COMPRESSORS = (
    section_4(
        "rand-k",
        CompressorClass(compressors.rand_k, d / k - 1, 32 * k + k * _index_bits, d, k),
        "rand-k: unbiased, omega = d/k - 1, bits",
        tex=r"\omega=\frac{d}{k}-1, \quad 32k+k\lceil\log_{2}(d)\rceil",
    ),
    section_4(
        "natural",
        CompressorClass(lambda d, k: compressors.natural(d), sympy.Rational(1, 8), 9 * d, d, k),
        "natural compression: unbiased, omega = 1/8, 9 bits a float",
        tex=r"\omega=\frac{1}{8}",
    ),
    section_4(
        "rand-k-natural",
        CompressorClass(compressors.rand_k_natural, 9 * d / (8 * k) - 1, 9 * k + k * _index_bits, d, k),
        "rand-k with natural compression: omega = 9d/(8k) - 1, bits",
        tex=r"\omega=\frac{9d}{8k}-1, \quad 9k+k\lceil\log_{2}(d)\rceil",
    ),
    section_4(
        "l1-selection",
        CompressorClass(lambda d, k: compressors.l1_selection(d), d - 1, 32 + _index_bits, d, k),
        "l1-selection: omega = d - 1, bits",
        tex=r"\omega=d-1, \quad 32+\lceil\log_{2}(d)\rceil",
    ),
    section_13(
        "default",
        MEAN_ERROR <= omega * MEAN_SQUARE,
        "omega_av = omega is always valid",
        tex=r"\omega_{\mathrm{av}}=\omega",
    ),
    section_13(
        "independent",
        MEAN_ERROR <= omega / n * MEAN_SQUARE,
        "independent compressors: omega_av = omega/n",
        tex=r"\omega_{\mathrm{av}}=\frac{\omega}{n}",
        setting=INDEPENDENT,
        requires=(Hypothesis("the compressors are mutually independent", met=_INDEPENDENT.mutually_independent),),
    ),
)
