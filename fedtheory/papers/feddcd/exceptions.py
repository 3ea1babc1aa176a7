"""FedDCD: instances that are not derived from a setting, because there is no algorithm whose states they are.

Operators and projections, quadratic identities, the hard functions of the lower bound, and Newton's method.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import rbcd
from fedtheory.instances import Instance, Instances, Recipe, check_shape, number, numbers, pick, small
from fedtheory.numbers.rational import Array

# Operators of Lemmas B.3 and B.4


class Pair(NamedTuple):
    """Two vectors ``(..., n)``."""

    x: Array
    y: Array


def feasible(theta: Array, n: int, d: int) -> Array:
    """Blocks (M, 1, n, d) that sum to zero, from (n - 1) d coordinates."""
    free = theta.reshape(len(theta), 1, n - 1, d)
    return np.concatenate([free, -free.sum(axis=-2, keepdims=True)], axis=-2)


def _operator_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        n = int(pick(rng, (2, 3, 4, 5)))
        style = pick(rng, ("equal", "spread", "random"))
        L = {
            "equal": (Fraction(2),) * n,
            "spread": tuple(Fraction(10) ** i for i in range(n)),
            "random": tuple(Fraction(int(v), 3) for v in rng.integers(1, 20, n)),
        }[style]
        yield {"tau": int(rng.integers(2, n + 1)), "clients": tuple({"L": v} for v in L)}


def _operator_build(recipe: Recipe, exact: bool) -> Instance:
    n = len(recipe["clients"])
    if not 2 <= recipe["tau"] <= n:
        raise ValueError("the operators take 2 <= tau <= n")
    check_shape(1, *(c["L"] for c in recipe["clients"]))
    params = rbcd.Params(recipe["tau"], numbers([c["L"] for c in recipe["clients"]], exact))

    def at(theta: Array) -> tuple[None, Pair]:
        return None, Pair(*(half[:, None] for half in np.split(theta, 2, axis=1)))

    text = f"n={n}, tau={recipe['tau']}, L=({', '.join(str(c['L']) for c in recipe['clients'])})"
    return Instance(None, params, 2 * n, at, text=text)


# Projections of Section 3.1 and Lemma B.2


class ProjectionParams(NamedTuple):
    """``W (Nd, Nd)`` positive definite; ``mask (N,)`` the indicator of I; ``d`` the block size."""

    W: Array
    mask: Array
    d: int


class Blocks(NamedTuple):
    """``x (..., Nd)``."""

    x: Array


def _projection_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d = int(pick(rng, (1, 2, 2, 3)))
        n = int(pick(rng, (1, 2, 3)))
        mask = [bool(v) for v in rng.random(n) < 0.6]
        mask[int(rng.integers(n))] = True
        yield {
            "d": d,
            "full": int(pick(rng, (0, 0, 1))),
            "clients": tuple(
                {"in": int(inside), "w": tuple(Fraction(int(v), 2) for v in rng.integers(1, 9, d))} for inside in mask
            ),
        }


def _projection_build(recipe: Recipe, exact: bool) -> Instance:
    d, clients = recipe["d"], recipe["clients"]
    mask = np.array([bool(c["in"]) for c in clients])
    if not mask.any():
        raise ValueError("the set I must not be empty")
    check_shape(d, *(w for c in clients for w in c["w"]))
    size = d * len(clients)
    weights = numbers([w for c in clients for w in c["w"]], exact).reshape(size)
    W = np.zeros((size, size), dtype=weights.dtype) + 0 * weights[0]
    np.fill_diagonal(W, weights)
    if recipe["full"]:
        # A rank-one term couples all entries and keeps W positive definite.
        v = numbers([(-1) ** i * (i + 1) for i in range(size)], exact)
        W = W + v[:, None] * v[None, :] / size
    params = ProjectionParams(W, mask, d)
    members = ", ".join(str(i + 1) for i in np.flatnonzero(mask))
    shape = "diag" if not recipe["full"] else "rank-one plus diag"
    entries = ", ".join(str(w) for c in clients for w in c["w"])
    text = f"N={len(clients)}, d={d}, I={{{members}}}, W = {shape}({entries})"
    return Instance(None, params, size, lambda theta: (None, Blocks(theta[:, None])), text=text)


# Three-point property, Lemma B.7


class MirrorParams(NamedTuple):
    """u(x) = a x^2/2 + b x; Phi'(x) = s_minus x for x < 0 and s_plus x for x > 0; C = [low, high]."""

    a: Any
    b: Any
    s_minus: Any
    s_plus: Any
    low: Any
    high: Any


def _mirror_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        low, high = sorted(small(rng, 2))
        yield {
            "a": pick(rng, (Fraction(0), Fraction(0), Fraction(1), Fraction(5))),
            "b": small(rng, 1)[0],
            "s_minus": pick(rng, (Fraction(1), Fraction(1, 2), Fraction(4))),
            "s_plus": pick(rng, (Fraction(1), Fraction(1), Fraction(3))),
            "low": low if pick(rng, (True, False)) else Fraction(-100),
            "high": high if pick(rng, (True, False)) else Fraction(100),
        }


def _mirror_build(recipe: Recipe, exact: bool) -> Instance:
    values = {key: number(recipe[key], exact) for key in MirrorParams._fields}
    if values["low"] > values["high"] or values["a"] < 0 or min(values["s_minus"], values["s_plus"]) <= 0:
        raise ValueError("C must be an interval, u convex and Phi strictly convex")

    def at(theta: Array) -> tuple[None, Pair]:
        return None, Pair(theta[:, None, :1], theta[:, None, 1:])

    text = ", ".join(f"{key}={recipe[key]}" for key in MirrorParams._fields)
    return Instance(None, MirrorParams(**values), 2, at, quadratic=False, text=text)


# Three vectors, Appendix D


class TripleParams(NamedTuple):
    """``a``, ``b``: positive weights; ``L (n,)``: the weights of the norm."""

    a: Any
    b: Any
    L: Array


class Triple(NamedTuple):
    """Three vectors ``(..., n)``."""

    x: Array
    y: Array
    z: Array


def _triple_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        a, b = (Fraction(int(v), 6) for v in rng.integers(1, 12, 2))
        L = tuple({"L": Fraction(int(v), 2)} for v in rng.integers(1, 9, int(pick(rng, (1, 2, 3)))))
        yield {"a": a, "b": b, "clients": L}


def _triple_build(recipe: Recipe, exact: bool) -> Instance:
    weights = [c["L"] for c in recipe["clients"]]
    check_shape(len(weights), recipe["a"], recipe["b"], *weights)
    params = TripleParams(number(recipe["a"], exact), number(recipe["b"], exact), numbers(weights, exact))
    text = f"a={recipe['a']}, b={recipe['b']}, L=({', '.join(map(str, weights))})"
    at = lambda theta: (None, Triple(*(part[:, None] for part in np.split(theta, 3, axis=1))))  # noqa: E731
    return Instance(None, params, 3 * len(weights), at, text=text)


# The hard functions of Appendix F


class HardParams(NamedTuple):
    """``N`` clients; ``m`` functions, m = N in the first case; ``alpha``; ``s``, with beta = m alpha s^2; ``client``:
    which function is looked at; ``block``: clients that share it; ``size``: coordinates kept; ``tau``, ``t``:
    participants and rounds."""

    N: int
    m: int
    alpha: Any
    s: Any
    client: int
    block: int
    size: int
    tau: int
    t: int


class Vector(NamedTuple):
    """``x (..., size)``."""

    x: Array


def _hard_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        clients = int(pick(rng, (2, 3, 4, 6)))
        # The second case, alpha >= beta/N, works with m < N functions, each shared by several clients.
        functions = clients if pick(rng, (True, False)) else int(rng.integers(1, clients))
        yield {
            "N": clients,
            "m": functions,
            "alpha": pick(rng, (Fraction(1), Fraction(1, 3))),
            "s": pick(rng, (Fraction(5, 4), Fraction(3, 2), Fraction(3), Fraction(20))),
            "client": int(rng.integers(1, functions + 1)),
            "size": int(rng.integers(4, 8)),
            "tau": int(rng.integers(1, clients + 2)),
            "t": int(rng.integers(1, 5)),
        }


def _hard_build(recipe: Recipe, exact: bool) -> Instance:
    clients, functions, client = recipe["N"], recipe["m"], recipe["client"]
    if not 1 <= client <= functions <= clients or recipe["size"] < 3:
        raise ValueError("the hard functions take 1 <= client <= m <= N and three coordinates or more")
    check_shape(recipe["t"], recipe["tau"], recipe["alpha"], recipe["s"] - 1)
    # In the second case m is the largest integer below beta/alpha = m s^2.
    if functions < clients and not recipe["s"] ** 2 * functions <= functions + 1:
        raise ValueError("m must be the largest integer below beta/alpha")
    params = HardParams(
        clients,
        functions,
        number(recipe["alpha"], exact),
        number(recipe["s"], exact),
        client,
        clients // functions,
        recipe["size"],
        recipe["tau"],
        recipe["t"],
    )
    text = ", ".join(f"{name}={recipe[name]}" for name in recipe)
    return Instance(None, params, recipe["size"], lambda theta: (None, Vector(theta[:, None])), text=text)


# Newton's method, Section 5


class NewtonParams(NamedTuple):
    """``alpha``, ``beta``: curvatures; ``steps``: K; ``delta``: accuracy asked for; ``forcing``: of inexact Newton."""

    alpha: Any
    beta: Any
    steps: int
    delta: Any
    forcing: Any


class Guess(NamedTuple):
    """``w (..., d)``: the warm start."""

    w: Array


def _newton_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        yield {
            "alpha": Fraction(1),
            "beta": pick(rng, (Fraction(1), Fraction(2), Fraction(3), Fraction(10))),
            "steps": int(pick(rng, (20, 60))),
            "delta": pick(rng, (Fraction(1, 2), Fraction(1, 4))),
            "forcing": pick(rng, (Fraction(1, 2), Fraction(1, 10))),
        }


def _newton_build(recipe: Recipe, exact: bool, dimension: int = 1) -> Instance:
    # Twenty steps or more: far above log(1/delta).
    check_shape(recipe["steps"] - 19, *recipe.values())
    if recipe["alpha"] > recipe["beta"] or max(recipe["delta"], recipe["forcing"]) >= 1:
        raise ValueError("Newton's instances take alpha <= beta and accuracies below 1")
    alpha, beta, delta, forcing = (number(recipe[name], exact) for name in ("alpha", "beta", "delta", "forcing"))
    params = NewtonParams(alpha, beta, recipe["steps"], delta, forcing)
    text = ", ".join(f"{name}={recipe[name]}" for name in recipe)
    quadratic = dimension == 2
    return Instance(
        None, params, dimension, lambda theta: (None, Guess(theta[:, None])), quadratic=quadratic, text=text
    )


OPERATORS = Instances(_operator_recipes, _operator_build)
PROJECTION = Instances(_projection_recipes, _projection_build)
MIRROR = Instances(_mirror_recipes, _mirror_build)
TRIPLES = Instances(_triple_recipes, _triple_build)
HARD = Instances(_hard_recipes, _hard_build)
NEWTON = Instances(_newton_recipes, _newton_build)
NEWTON_QUADRATIC = Instances(_newton_recipes, partial(_newton_build, dimension=2))
