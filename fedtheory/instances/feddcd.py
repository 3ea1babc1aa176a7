"""Instances for FedDCD: duals of quadratics and of two-slope functions, coordinate descent, operators, projections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import feddcd, rbcd
from fedtheory.instances.base import (
    SIZES,
    Family,
    Instance,
    Recipe,
    check_shape,
    constants_family,
    number,
    numbers,
    pick,
    small,
)
from fedtheory.optimum import Optimum
from fedtheory.papers.feddcd import dual
from fedtheory.papers.feddcd.appendix_b import MirrorParams, Pair
from fedtheory.papers.feddcd.projection import Point, ProjectionParams
from fedtheory.problems.base import Functions, Problem
from fedtheory.problems.quadratic import diagonal
from fedtheory.problems.two_slope import TwoSlope
from fedtheory.rational import Array


def feasible(theta: Array, n: int, d: int) -> Array:
    """Blocks (M, 1, n, d) that sum to zero, from (n - 1) d coordinates."""
    free = theta.reshape(len(theta), 1, n - 1, d)
    return np.concatenate([free, -free.sum(axis=-2, keepdims=True)], axis=-2)


def _curvatures(rng: np.random.Generator, n: int, d: int, low: Fraction, high: Fraction) -> list[tuple[Any, ...]]:
    """Diagonal Hessians at the ends low and high of the class, sometimes between."""
    style = pick(rng, ("low", "high", "ends", "ends", "between"))
    options = {"low": (low,), "high": (high,), "ends": (low, high), "between": (low, high, (low + high) / 2)}[style]
    return [tuple(pick(rng, options) for _ in range(d)) for _ in range(n)]


# FedDCD, Algorithm 1


def _any_dual_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    yield from dual_recipes(rng, (False, False, True))


def _quadratic_dual_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    yield from dual_recipes(rng, (False,))


def dual_recipes(rng: np.random.Generator, with_kinks: tuple[bool, ...]) -> Iterator[Recipe]:
    """Problems for FedDCD; ``with_kinks``: options for whether the f_i are two-slope functions."""
    while True:
        d = int(pick(rng, (1, 1, 1, 2)))
        n = int(pick(rng, (2, 3, 3, 4) if d == 2 else (2, 3, 3, 4, 5)))
        # Sizes far from 1 show what is of the wrong dimension.
        alpha = pick(rng, tuple(Fraction(v) for v in (1, 1, "1/2", 3, 100, "1/100")))
        beta = alpha * pick(rng, (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(20), Fraction(1000)))
        below = _curvatures(rng, n, d, alpha, beta)
        two = pick(rng, with_kinks)
        above = _curvatures(rng, n, d, alpha, beta) if two else below
        yield {
            "d": d,
            "tau": int(rng.integers(2, n + 1)),
            # Now and then the constants declared are not those of the functions.
            "alpha": alpha,
            "beta": beta * pick(rng, (Fraction(1),) * 15 + (Fraction(4, 5),)),
            "scale": pick(rng, (Fraction(1),) * 12 + (Fraction(1, 2), Fraction(2))),
            "eta": pick(rng, (Fraction(1),) * 8 + (Fraction(1, 2), Fraction(3, 2))),
            "w": small(rng, d),
            "clients": tuple(
                {"h": h, "h_above": a, "y": small(rng, d), "kink": small(rng, d) if two else (0,) * d}
                for h, a in zip(below, above, strict=True)
            ),
        }


def _words(vector: Any) -> str:
    return "(" + ", ".join(map(str, vector)) + ")"


def simpler_duals(recipe: Recipe) -> Iterator[Recipe]:
    """The same problem with quadratics, with alpha = 1, and with smaller condition numbers."""
    clients = recipe["clients"]
    for end in (recipe["alpha"], recipe["beta"]):
        flat = {"h": (end,) * recipe["d"], "h_above": (end,) * recipe["d"], "kink": (0,) * recipe["d"]}
        yield {**recipe, "clients": tuple({**c, **flat} for c in clients)}
    for slopes in ("h", "h_above"):
        plain = tuple({**c, "h": c[slopes], "h_above": c[slopes], "kink": (0,) * recipe["d"]} for c in clients)
        yield {**recipe, "clients": plain}
    alpha, beta = recipe["alpha"], recipe["beta"]
    for kappa in (Fraction(1), Fraction(2), Fraction(4), Fraction(9), Fraction(16), Fraction(25), beta / alpha):
        # Curvatures at the ends of the class stay there; others keep their place between the ends.
        place = {beta: kappa} if beta == alpha else {}
        span = (kappa - 1) / (beta - alpha) if beta != alpha else Fraction(0)

        def moved(values: Any, place: Any = place, span: Any = span) -> tuple[Fraction, ...]:
            return tuple(place.get(v, 1 + (v - alpha) * span) for v in values)

        changed = tuple({**c, "h": moved(c["h"]), "h_above": moved(c["h_above"])} for c in clients)
        yield {**recipe, "alpha": Fraction(1), "beta": kappa, "clients": changed}


def dual_build(recipe: Recipe, exact: bool) -> Instance:
    """The instance of a recipe for FedDCD, Algorithm 1."""
    d, clients = recipe["d"], recipe["clients"]
    n = len(clients)
    if n < 2 or not 2 <= recipe["tau"] <= n:
        raise ValueError("FedDCD takes 2 <= tau <= N")
    check_shape(
        d,
        recipe["alpha"],
        recipe["beta"],
        recipe["scale"],
        recipe["eta"],
        *(v for c in clients for v in (*c["h"], *c["h_above"])),
    )
    below = numbers([c["h"] for c in clients], exact)
    above = numbers([c["h_above"] for c in clients], exact)
    quadratic = bool((below == above).all())
    w_star = numbers(recipe["w"], exact)
    free = numbers([c["y"] for c in clients], exact)
    kink = numbers([c["kink"] for c in clients], exact)
    declared = (number(recipe["alpha"], exact), number(recipe["beta"], exact))
    params = feddcd.Params(
        recipe["tau"], np.array([number(recipe["scale"], exact) / declared[0]] * n), number(recipe["eta"], exact)
    )

    def problem(y_star: Array) -> Problem:
        f: Functions
        if quadratic:
            f = diagonal(below, w_star - y_star / below)
        else:
            c = w_star + kink
            slope = np.where(kink > 0, below, above)
            f = TwoSlope(below, above, c, y_star + slope * kink)
        x = w_star + 0 * y_star[..., 0, :]
        return Problem(f, None, declared, Optimum(x, y_star, 0.0))

    fixed = problem(free - free.sum(axis=0) / n)

    def at(theta: Array) -> tuple[Problem, feddcd.State]:
        return fixed, feddcd.init(fixed, params, fixed.y_star + feasible(theta, n, d))

    def initial(theta: Array) -> tuple[Problem, feddcd.State]:
        y_star = feasible(theta, n, d)
        posed = problem(y_star)
        start = feddcd.init(posed, params)
        return posed, feddcd.State(*(field + 0 * y_star for field in start))

    def coordinates(state: feddcd.State) -> Array:
        z = state.y - fixed.y_star
        return z[..., :-1, :].reshape(*z.shape[:-2], (n - 1) * d)

    hessians = ", ".join(_words(c["h"]) for c in clients)
    kind = "quadratics with Hessians diag" if quadratic else "two-slope functions with slopes below"
    text = (
        f"N={n}, d={d}, tau={recipe['tau']}, alpha={recipe['alpha']}, beta={recipe['beta']}, eta={recipe['eta']}"
        f"{'' if recipe['scale'] == 1 else ', Lambda = ' + str(recipe['scale']) + '/alpha'}; "
        f"f_i {kind} {hessians}"
    )
    if not quadratic:
        upper = ", ".join(_words(c["h_above"]) for c in clients)
        kinks = ", ".join(_words(c["kink"]) for c in clients)
        duals = ", ".join(_words(c["y"]) for c in clients)
        text += f" and above {upper} their kinks at w* + {kinks}; y* = {duals} less their mean"
    # From y = 0 the state is -y* about the optimum.
    start = -np.eye((n - 1) * d, dtype=int)
    return Instance(fixed, params, (n - 1) * d, at, initial, coordinates, start, quadratic, text)


def _pairs_build(recipe: Recipe, exact: bool) -> Instance:
    """Pairs (y, z) of any dual points, z free and y around it."""
    base = dual_build(recipe, exact)
    n, d = base.problem.n, base.problem.d

    def at(theta: Array) -> tuple[Problem, dual.Pair]:
        y, z = (half.reshape(len(theta), 1, n, d) for half in np.split(theta, 2, axis=1))
        return base.problem, dual.Pair(base.problem.y_star + y, base.problem.y_star + z)

    return replace(base, dimension=2 * n * d, at=at, initial=None, coordinates=None)


def _identical_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    for recipe in _any_dual_recipes(rng):
        first = {**recipe["clients"][0], "y": (Fraction(0),) * recipe["d"]}
        yield {**recipe, "clients": (first,) * len(recipe["clients"])}


# Random block coordinate descent, Appendix B


def rbcd_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    """Problems for coordinate descent, with smoothness constants of equal and of very different size."""
    while True:
        n = int(pick(rng, (2, 3, 3, 4)))
        d = int(pick(rng, (1, 1, 1, 2)))
        scale = pick(rng, tuple(Fraction(v) for v in (1, "1/3", 5, 100, "1/100")))
        L = [scale * v for v in (pick(rng, ((1, 1, 1, 1), (1, 2, 3, 4), (1, 10, 100, 1), (4, 1, 1, 1))))[:n]]
        ratio = pick(rng, (Fraction(1), Fraction(2), Fraction(10), Fraction(1000)))
        yield {
            "d": d,
            "tau": int(rng.integers(2, n + 1)),
            "level": pick(rng, (Fraction(0), Fraction(0), Fraction(1), Fraction(-2), Fraction(50))),
            "clients": tuple(
                {
                    "L": bound,
                    "h": tuple(pick(rng, (bound, bound, bound / ratio, bound / 2)) for _ in range(d)),
                    "c": small(rng, d),
                }
                for bound in L
            ),
        }


def rbcd_build(recipe: Recipe, exact: bool, constrained: bool = True) -> Instance:
    """The instance of a recipe for coordinate descent, with states in C or (``constrained`` false) anywhere."""
    d, clients = recipe["d"], recipe["clients"]
    n = len(clients)
    if n < 2 or not 2 <= recipe["tau"] <= n:
        raise ValueError("coordinate descent takes 2 <= tau <= n")
    check_shape(d, *(v for c in clients for v in (c["L"], *c["h"])))
    h = numbers([c["h"] for c in clients], exact)
    level = number(recipe["level"], exact)
    f = diagonal(h, numbers([c["c"] for c in clients], exact), level / n)
    params = rbcd.Params(recipe["tau"], numbers([c["L"] for c in clients], exact))
    problem = Problem(f, None, (f.mu.min(), f.L.max()))
    centre = rbcd.constrained_minimiser(problem)

    def at(theta: Array) -> tuple[Problem, rbcd.State]:
        z = feasible(theta, n, d) if constrained else theta.reshape(len(theta), 1, n, d)
        return problem, rbcd.State(centre + z)

    hessians = ", ".join("(" + ", ".join(map(str, c["h"])) + ")" for c in clients)
    bounds = ", ".join(str(c["L"]) for c in clients)
    text = (
        f"n={n}, d={d}, tau={recipe['tau']}, L=({bounds}); h_i quadratics with Hessians diag {hessians}, "
        f"adding up to {recipe['level']} at their centres"
    )
    return Instance(problem, params, (n - 1 if constrained else n) * d, at, text=text)


# Operators of Lemmas B.3 and B.4


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


def _operator_build(recipe: Recipe, exact: bool, constrained: bool = False) -> Instance:
    n = len(recipe["clients"])
    if not 2 <= recipe["tau"] <= n:
        raise ValueError("the operators take 2 <= tau <= n")
    check_shape(1, *(c["L"] for c in recipe["clients"]))
    params = rbcd.Params(recipe["tau"], numbers([c["L"] for c in recipe["clients"]], exact))

    def at(theta: Array) -> tuple[None, Pair]:
        if constrained:
            return None, Pair(*(feasible(half, n, 1)[..., 0] for half in np.split(theta, 2, axis=1)))
        return None, Pair(*(half[:, None] for half in np.split(theta, 2, axis=1)))

    text = f"n={n}, tau={recipe['tau']}, L=({', '.join(str(c['L']) for c in recipe['clients'])})"
    return Instance(None, params, 2 * (n - 1 if constrained else n), at, text=text)


# Projections of Section 3.1 and Lemma B.2


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
    return Instance(None, params, size, lambda theta: (None, Point(theta[:, None])), text=text)


# Three-point property, Lemma B.7


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


FAMILIES = {
    "feddcd": Family(_any_dual_recipes, dual_build, simpler_duals),
    "feddcd-quadratic": Family(_quadratic_dual_recipes, dual_build, simpler_duals),
    "feddcd-pairs": Family(_any_dual_recipes, _pairs_build),
    "feddcd-identical": Family(_identical_recipes, dual_build),
    "feddcd-constants": constants_family({dual.alpha: SIZES, dual.beta: SIZES, dual.N: SIZES, dual.tau: SIZES}),
    "rbcd": Family(rbcd_recipes, rbcd_build),
    "rbcd-anywhere": Family(rbcd_recipes, partial(rbcd_build, constrained=False)),
    "operators": Family(_operator_recipes, _operator_build),
    "operators-feasible": Family(_operator_recipes, partial(_operator_build, constrained=True)),
    "projection": Family(_projection_recipes, _projection_build),
    "mirror": Family(_mirror_recipes, _mirror_build),
}
