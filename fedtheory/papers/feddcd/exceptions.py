"""FedDCD: instances that are not derived from a setting, because there is no algorithm whose states they are.

Operators and projections, quadratic identities, the hard functions of the lower bound, and Newton's method.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.algorithms import rbcd
from fedtheory.instances import Instance, Instances, Recipe, check_shape, number, numbers, pick
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar

# Operators of Lemmas B.3 and B.4


class Pair(NamedTuple):
    """Two vectors ``(..., n)``."""

    x: Array
    y: Array


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


# Three vectors, Appendix D


class TripleParams(NamedTuple):
    """``a``, ``b``: positive weights; ``L (n,)``: the weights of the norm."""

    a: Scalar
    b: Scalar
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
    alpha: Scalar
    s: Scalar
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
        clients = int(rng.integers(2, pick(rng, (7, 7, 40, 1000))))
        # The second case, alpha >= beta/N, works with m < N functions, each shared by several clients; m is then the
        # largest integer below m s^2, so that s is near 1.
        functions = clients if pick(rng, (True, False)) else int(rng.integers(1, pick(rng, (2, clients))))
        above = Fraction(int(rng.integers(4, 40)), 4) * Fraction(10) ** int(rng.integers(-2, 2))
        yield {
            "N": clients,
            "m": functions,
            "alpha": Fraction(int(rng.integers(4, 40)), 4) * Fraction(10) ** int(rng.integers(-3, 3)),
            "s": 1 + (above if functions == clients else Fraction(int(rng.integers(1, 31)), 90 * functions)),
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
    """``alpha``, ``beta``: curvatures; ``steps``: K; ``delta``: accuracy asked for."""

    alpha: Scalar
    beta: Scalar
    steps: int
    delta: Scalar


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
        }


def _newton_build(recipe: Recipe, exact: bool) -> Instance:
    # Twenty steps or more: far above log(1/delta).
    check_shape(recipe["steps"] - 19, *recipe.values())
    if recipe["alpha"] > recipe["beta"] or recipe["delta"] >= 1:
        raise ValueError("Newton's instances take alpha <= beta and accuracies below 1")
    alpha, beta, delta = (number(recipe[name], exact) for name in ("alpha", "beta", "delta"))
    params = NewtonParams(alpha, beta, recipe["steps"], delta)
    text = ", ".join(f"{name}={recipe[name]}" for name in recipe)
    return Instance(None, params, 1, lambda theta: (None, Guess(theta[:, None])), quadratic=False, text=text)


OPERATORS = Instances(_operator_recipes, _operator_build)
PROJECTION = Instances(_projection_recipes, _projection_build)
TRIPLES = Instances(_triple_recipes, _triple_build)
HARD = Instances(_hard_recipes, _hard_build)
NEWTON = Instances(_newton_recipes, _newton_build)
