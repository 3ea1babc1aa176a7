"""Instances of an algorithm around its fixed point: problems, compressors, and a chart of the states.

Curvatures are at the ends of the class, compressors extreme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import compressors
from fedtheory.algorithms.base import Algorithm
from fedtheory.compressors import Family as Compressors
from fedtheory.instances.base import Family, Instance, Recipe, check_shape, number, numbers, pick, small
from fedtheory.optimum import Optimum
from fedtheory.problems.base import Functions, Problem
from fedtheory.problems.quadratic import diagonal
from fedtheory.problems.two_slope import TwoSlope
from fedtheory.rational import Array

_KAPPAS = tuple(Fraction(v) for v in (1, "3/2", 2, 4, 10, 100, 1000))
_OMEGAS = tuple(Fraction(v) for v in (0, "1/8", 1, 3, 10))


def problem_recipe(rng: np.random.Generator, n: int, d: int, L: Fraction, mu: Fraction, kinks: bool) -> Recipe:
    """n functions with curvatures at the ends mu and L of the class, sometimes between."""
    style = pick(rng, ((mu,), (L,), (mu, L), (mu, L), (mu, L, (mu + L) / 2)))
    two = kinks and pick(rng, (False, False, False, False, True))

    def client() -> Recipe:
        recipe = {"h": tuple(pick(rng, style) for _ in range(d)), "y": small(rng, d)}
        if not two:
            return recipe
        return {**recipe, "h_above": tuple(pick(rng, (mu, L)) for _ in range(d)), "kink": small(rng, d)}

    return {"d": d, "mu": mu, "L": L, "x": small(rng, d), "clients": tuple(client() for _ in range(n))}


def scales(rng: np.random.Generator, sizes: tuple[Any, ...] = (1, 1, "1/2", 4, 100, "1/100")) -> tuple[Any, Any]:
    """(L, mu). Sizes far from 1 show what is of the wrong dimension."""
    L = pick(rng, tuple(Fraction(v) for v in sizes))
    return L, L / pick(rng, _KAPPAS)


def build_problem(recipe: Recipe, exact: bool) -> tuple[Problem, bool]:
    """The problem, and whether it is quadratic. The gradients at the optimum x are the y_i less their mean.

    Clients with an ``h_above`` have kinks; either all have or none. ``ValueError`` without clients, coordinates or
    positive curvatures.
    """
    d, clients = recipe["d"], recipe["clients"]
    if not clients:
        raise ValueError("there must be at least one client")
    check_shape(d, recipe["mu"], recipe["L"], *(v for c in clients for v in (*c["h"], *c.get("h_above", ()))))

    def rows(key: str) -> Array:
        return numbers([c[key] for c in clients], exact)

    x, y, below = numbers(recipe["x"], exact), rows("y"), rows("h")
    y = y - y.sum(axis=0) / len(clients)
    quadratic = "h_above" not in clients[0]
    f: Functions = diagonal(below, x - y / below)
    if not quadratic:
        above, kink = rows("h_above"), rows("kink")
        f = TwoSlope(below, above, x + kink, y + np.where(kink > 0, below, above) * kink)
    # Gradients as the oracle rounds them: a residual at the optimum would look like a state of its own.
    optimum = Optimum(x, f.gradient(x[None, :]), 0.0)
    return Problem(f, None, (number(recipe["mu"], exact), number(recipe["L"], exact)), optimum), quadratic


def build_compressors(recipe: Recipe, exact: bool) -> Compressors:
    """A compressor for every client: rand-k, or Bernoulli's where k = 0."""
    d, k = recipe["d"], recipe["k"]
    one = compressors.rand_k(d, k) if k else compressors.bernoulli(d, number(recipe["omega"], exact))
    return Compressors(one, len(recipe["clients"]), recipe["joint"])


def compression_recipe(rng: np.random.Generator, omegas: tuple[Fraction, ...] = _OMEGAS) -> tuple[int, Recipe]:
    """A dimension, and a compressor for it: mostly Bernoulli's, the extreme point of U(omega)."""
    k, d = pick(rng, ((0, 1),) * 6 + ((0, 2), (1, 2), (1, 3)))
    omega = Fraction(d, k) - 1 if k else pick(rng, omegas)
    return d, {"k": k, "omega": omega, "joint": pick(rng, ("independent",) * 5 + ("shared",))}


# A chart of the states: increments of the free parts of the state, by their kinds.


def _rows(kind: str, n: int) -> int:
    return {"point": 1, "clients": n, "balanced": n - 1}[kind]


def _block(kind: str, theta: Array) -> Array:
    """An increment of one part of the state from its coordinates ``(M, 1, rows, d)``."""
    if kind == "point":
        return theta[..., 0, :]
    return theta if kind == "clients" else np.concatenate([theta, -theta.sum(axis=-2, keepdims=True)], axis=-2)


def _coordinates(kind: str, increment: Array) -> Array:
    if kind == "point":
        return increment
    rows = increment if kind == "clients" else increment[..., :-1, :]
    return rows.reshape(*rows.shape[:-2], rows.shape[-2] * rows.shape[-1])


def around_fixed_point(
    algorithm: Algorithm,
    free: dict[str, str],
    recipes: Callable[[np.random.Generator], Iterator[Recipe]],
    parameters: Callable[[Recipe, Problem, bool], Any],
    linear: Callable[[Recipe], bool] = lambda recipe: True,
) -> Family:
    """Instances of one algorithm, on the problems of :func:`build_problem`.

    ``free``: the parts of its state that are free, and their kinds: a "point" ``(d,)``, "clients" ``(n, d)``, or
    "balanced" ``(n, d)`` with blocks that sum to zero. ``parameters(recipe, problem, exact)`` builds its Params or
    raises ``ValueError``; ``linear(recipe)``: whether its draws act linearly.
    """

    def build(recipe: Recipe, exact: bool) -> Instance:
        problem, quadratic = build_problem(recipe, exact)
        params = parameters(recipe, problem, exact)
        n, d = problem.n, problem.d
        fixed = algorithm.fixed_point(problem, params)
        sizes = [_rows(kind, n) * d for kind in free.values()]

        def at(theta: Array) -> tuple[Problem, Any]:
            blocks = np.split(theta, np.cumsum(sizes)[:-1], axis=1)
            parts = {
                name: getattr(fixed, name) + _block(kind, block.reshape(len(theta), 1, _rows(kind, n), d))
                for (name, kind), block in zip(free.items(), blocks, strict=True)
            }
            return problem, algorithm.init(problem, params, **parts)

        def coordinates(state: Any) -> Array:
            parts = [_coordinates(kind, getattr(state, name) - getattr(fixed, name)) for name, kind in free.items()]
            return np.concatenate(parts, axis=-1)

        text = _words(recipe, params, quadratic)
        return Instance(problem, params, sum(sizes), at, None, coordinates, None, quadratic and linear(recipe), text)

    return Family(recipes, build)


def _words(recipe: Recipe, params: Any, quadratic: bool) -> str:
    hidden = ("clients", "x", "k", "joint", "omega", "q")
    scalars = ", ".join(f"{key}={value}" for key, value in recipe.items() if key not in hidden)
    if hasattr(params, "compressors"):
        scalars += f", {params.compressors.compressor.name}, {params.compressors.joint}"
    if hasattr(params, "compressor"):
        scalars += f", {params.compressor.name}"
    kind = "quadratics with Hessians diag" if quadratic else "two-slope functions with slopes below their kinks"
    hessians = ", ".join("(" + ", ".join(map(str, c["h"])) + ")" for c in recipe["clients"])
    return f"n={len(recipe['clients'])}, {scalars}; f_i {kind} {hessians}"


def check_probabilities(*values: Any) -> None:
    """``ValueError`` unless all the numbers are in [0, 1]."""
    if any(not 0 <= v <= 1 for v in values):
        raise ValueError("probabilities must be in [0, 1]")


def check_positive(recipe: Recipe, *names: str) -> None:
    """``ValueError`` unless these entries of the recipe are all positive."""
    if any(recipe[name] <= 0 for name in names):
        raise ValueError(f"{', '.join(names)} must be positive")
