"""Shared parts of the proofs on FedDCD's rounds: the sampling lemma, and instances at which models and code are
compared.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.numbers.rational import Array
from fedtheory.randomness import expectation
from verify.pep.functions import Formal
from verify.pep.gram import Form, scalar
from verify.proofs import identity
from verify.proofs.identity import is_zero


def sampling_lemma() -> bool:
    """E h(y) <= h(x) - (r/2) |G_[n] grad h(x)|_L^2 for y = x - G_I grad h(x), for every n, tau and L_1, ..., L_n.

    For fixed I, with b the weighted mean of the g over I, client i moves by -(g - b)/L and smoothness bounds its
    decrease by (|g|^2 - |b|^2)/(2 L). Summed over I and multiplied by P(I) = (sum_I 1/L)/Z this is 1/(2 Z) times the
    sum over pairs in I of |g_i - g_j|^2/(L_i L_j), by Lagrange's identity. A pair is in comb(n-2, tau-2) subsets, and
    Z = comb(n-1, tau-1) sum 1/L; the same sum over all pairs, over sum 1/L, is |G_[n] grad h|_L^2.
    """
    g, b, L = sympy.symbols("g b L")
    step = -(g - b) / L
    decrease = -(g * step + L * step**2 / 2) - (g**2 - b**2) / (2 * L)
    g_i, g_j = sympy.symbols("g_i g_j")
    # One pair of (sum 1/L)(sum |g|^2/L) - |sum g/L|^2, without the common 1/(L_i L_j).
    pair = (g_i**2 + g_j**2) - 2 * g_i * g_j - (g_i - g_j) ** 2
    n, tau = sympy.symbols("n tau", integer=True, positive=True)
    share = sympy.binomial(n - 2, tau - 2) / sympy.binomial(n - 1, tau - 1) - (tau - 1) / (n - 1)
    return is_zero(decrease) and is_zero(pair) and sympy.gammasimp(share.rewrite(sympy.gamma)) == 0


def steps_as_sampled(posed: Formal, g: Array, w: Array, moves: Array, p: Array, eta: Any) -> bool:
    """Return True if the moves ``(K, n, d)`` with probabilities p are those along w on tau random blocks, Lambda =
    I/alpha.

    With P the projection that subtracts the mean, E <g, move> is -r eta alpha <g, P w> and E |move|^2 is r eta^2
    alpha^2 |P w|^2.
    """
    problem, params = posed.instance.problem, posed.instance.params
    r, length = Fraction(params.tau - 1, problem.n - 1), eta * problem.mu
    P = w - w.sum(axis=-2, keepdims=True) / problem.n
    across = scalar(expectation((g * moves).sum(axis=(-1, -2)), p)) + r * length * scalar((g * P).sum())
    squared = scalar(expectation((moves**2).sum(axis=(-1, -2)), p)) - r * length**2 * squares(P)
    return across.is_zero and squared.is_zero


def squares(vectors: Array) -> Form:
    """The sum of the squares of vectors ``(m, d)``."""
    return scalar((vectors**2).sum(axis=(-1, -2)))


def instances(claim: Claim) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses, of which no constant is 1, which would hide that it is lost.

    mu < L, and some of at least three clients sit out. Raise ``Unprovable`` if none of the first recipes gives one.
    """
    return identity.instances(claim, _generic)


def _generic(recipe: Recipe, instance: Instance) -> bool:
    problem, params = instance.problem, instance.params
    some = 3 <= problem.n != params.tau
    return bool(some and 1 not in (problem.mu, problem.L) and problem.mu < problem.L)


def special(claim: Claim) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses, with every pair of cases that a step may treat apart."""
    return identity.varied(claim, _possible, _traits)


def _possible(recipe: Recipe, instance: Instance) -> bool:
    return bool(instance.problem.n <= 4 and instance.problem.mu <= instance.problem.L)


def _traits(instance: Instance) -> tuple[Hashable, ...]:
    problem, params = instance.problem, instance.params
    n, tau = problem.n, params.tau
    return (n, tau == n, tau == 2, problem.mu == problem.L)


def redeclared(instance: Instance) -> Iterator[tuple[str, Instance]]:
    """As :func:`identity.redeclared`, with Lambda = I/alpha for what is declared."""
    mu, Lambda = instance.problem.mu, instance.params.Lambda
    for name, other in identity.redeclared(instance):
        scaled = Lambda * mu / other.problem.mu
        yield name, replace(other, params=other.params._replace(Lambda=scaled))
