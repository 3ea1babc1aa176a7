"""Instances for gradient descent and the variance-reduced methods of finite sums, in binding regimes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.algorithms import gradient_descent, loopless_svrg, saga, svrg
from fedtheory.algorithms.base import Algorithm
from fedtheory.instances.base import Family, Instance, Recipe, number, numbers, pick
from fedtheory.instances.fixed_point import (
    around_fixed_point,
    build_problem,
    check_positive,
    check_probabilities,
    problem_recipe,
    scales,
)
from fedtheory.problems.base import Functions, Problem
from fedtheory.problems.quadratic import Quadratics, diagonal
from fedtheory.rational import Array, apply, inverse

_PROBABILITIES = tuple(Fraction(v) for v in (1, "1/2", "1/2", "1/5", "1/10", "1/30"))
#: Stepsizes of SVRG's inner loop as shares of 1/L: its inequality asks for none.
_SHARES = tuple(Fraction(v) for v in ("1/10", "1/4", "2/5", "1/2", 1, 2, 5))
#: Tangents of half the angles by which Hessians are turned.
_TURNS = tuple(Fraction(v) for v in (0, "1/10", "-1/10", "1/3", "-1/3", "2/3", "-2/3"))


# Functions beyond those of :func:`build_problem`


@dataclass(frozen=True)
class Bent:
    """f_i(x) - (bend/2)|x - centre|^2 for given functions f_i, ``centre (d,)``; no conjugates."""

    f: Functions
    centre: Array
    bend: Any

    @property
    def n(self) -> int:
        return self.f.n

    @property
    def d(self) -> int:
        return self.f.d

    @property
    def mu(self) -> Array:
        curvature: Array = self.f.mu - self.bend
        return curvature

    @property
    def L(self) -> Array:
        curvature: Array = self.f.L - self.bend
        return curvature

    def value(self, x: Array) -> Array:
        value: Array = self.f.value(x) - self.bend * ((x - self.centre) ** 2).sum(axis=-1) / 2
        return value

    def gradient(self, x: Array) -> Array:
        slope: Array = self.f.gradient(x) - self.bend * (x - self.centre)
        return slope


@dataclass(frozen=True)
class Turned(Quadratics):
    """Quadratics whose Hessians have the eigenvalues ``spectra (n, d)``, which are exact where the numbers are."""

    spectra: Any = None

    @cached_property
    def _spectrum(self) -> Array:
        return np.sort(self.spectra, axis=-1)


def _turned(recipe: Recipe, problem: Problem, exact: bool) -> Turned:
    """Every Hessian diag(h) turned in the plane, by twice the angle whose tangent is the client's ``turn``."""
    if problem.d != 2:
        raise ValueError("Hessians are turned in the plane only")
    t, h = (numbers([c[key] for c in recipe["clients"]], exact) for key in ("turn", "h"))
    cos, sin = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    Q = np.stack([np.stack([cos, -sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=-2)
    H = np.matmul(Q * h[:, None, :], np.swapaxes(Q, -1, -2))
    return Turned(H, problem.x_star - apply(inverse(H), problem.y_star), spectra=h)


def _altered(family: Family) -> Family:
    """The family with what its recipes say of its functions beyond a diagonal Hessian or a kink.

    ``turn`` (of each client): its Hessian is turned; ``bend``: less (bend/2)|x - x*|^2 for every f_i; ``g``: the
    function g(x) = (g/2)|x - x*|^2. None moves the stationary point or the gradients there.
    """

    def build(recipe: Recipe, exact: bool) -> Instance:
        instance = family.build(recipe, exact)
        problem, text = instance.problem, instance.text
        if "turn" in recipe["clients"][0]:
            problem = replace(problem, f=_turned(recipe, problem, exact))
            text += f" turned, by tangents {', '.join(str(c['turn']) for c in recipe['clients'])} of half the angles"
        if recipe.get("bend", 0):
            bent: Any = Bent(problem.f, problem.x_star, number(recipe["bend"], exact))
            problem = replace(problem, f=bent)
            text += f", each less ({recipe['bend']}/2)|x - x*|^2"
        if recipe.get("g", 0):
            g = diagonal(numbers([[recipe["g"]] * problem.d], exact), problem.x_star[None])
            problem = replace(problem, g=g)
            text += f"; g = ({recipe['g']}/2)|x - x*|^2"
        return replace(instance, problem=problem, at=lambda theta: (problem, instance.at(theta)[1]), text=text)

    return Family(family.recipes, build, _not_turned)


def _not_turned(recipe: Recipe) -> Iterator[Recipe]:
    clients = tuple({name: value for name, value in c.items() if name != "turn"} for c in recipe["clients"])
    if clients != recipe["clients"]:
        yield {**recipe, "clients": clients}


def _sum_recipe(rng: np.random.Generator) -> Recipe:
    """A mean of n functions; now and then one more curved, or less, than what is declared of all.

    Hessians that do not commute are turned: diagonal ones hide how the steps of several functions add up.
    """
    d, n = int(pick(rng, (1, 1, 2, 2))), int(pick(rng, (1, 2, 3, 4)))
    L, mu = scales(rng)
    recipe = problem_recipe(rng, n, d, L, mu, True)
    clients = recipe["clients"]
    if d == 2 and "h_above" not in clients[0] and pick(rng, (True, True, False)):
        clients = tuple({**c, "turn": pick(rng, _TURNS)} for c in clients)
    declared = pick(rng, ({},) * 8 + ({"L": L / 2, "mu": min(mu, L / 2)}, {"mu": min(2 * mu, L)}))
    return {**recipe, "clients": clients, **declared}


# Gradient descent

#: Bends as shares of L. In sevenths, so that no function becomes flat: one flatter yet would not be another.
_BENDS = tuple(Fraction(v) for v in (0, 0, 0, "3/7", "6/7", "11/7", 3))


def _stepsizes(L: Fraction, mu: Fraction) -> tuple[Fraction, ...]:
    return 1 / L, 2 / (L + mu), 2 / (L + mu), Fraction(9, 5) / L, Fraction(1, 10) / L, Fraction(5, 2) / L


def _descent_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        recipe = _sum_recipe(rng)
        L, mu = recipe["L"], recipe["mu"]
        g = pick(rng, ({}, {}, {"g": mu}, {"g": L}))
        # With g the constants of the objective are twice those of its parts.
        parts = 2 if g else 1
        yield {**recipe, **g, "gamma": pick(rng, _stepsizes(parts * L, parts * mu))}


def _smooth_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    """Curvatures anywhere in [-L, L], and sometimes below."""
    for recipe in _descent_recipes(rng):
        share = pick(rng, _BENDS)
        yield {**recipe, "bend": share * recipe["L"]} if share else recipe


# SAGA


def _saga_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        recipe = _sum_recipe(rng)
        n, L, mu = len(recipe["clients"]), recipe["L"], recipe["mu"]
        known, adaptive = 1 / (2 * (mu * n + L)), 1 / (3 * L)
        others = (1 / (2 * L), 2 / (3 * L), 1 / (mu + L), 1 / (2 * mu * n))
        yield {**recipe, "gamma": pick(rng, (known,) * 8 + (adaptive,) * 8 + others)}


# SVRG. The average may be more convex than each function.


def _average_recipe(rng: np.random.Generator) -> Recipe:
    recipe = _sum_recipe(rng)
    problem, _ = build_problem(recipe, True)
    mean, L = Fraction(problem.f.mu.mean()), recipe["L"]
    declared = pick(rng, (recipe["mu"], min(mean, L), min(mean, L), min(2 * mean, L)))
    bend = pick(rng, ({},) * 8 + ({"bend": 2 * recipe["mu"]}, {"bend": L}))
    return {**recipe, "mu": declared, **bend}


def _svrg_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        recipe = _average_recipe(rng)
        yield {**recipe, "eta": pick(rng, _SHARES) / recipe["L"]}


def _loopless_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        recipe = _average_recipe(rng)
        share = pick(rng, (Fraction(1),) * 8 + (Fraction(1, 2), Fraction(2), Fraction(6)))
        yield {**recipe, "eta": share / (6 * recipe["L"]), "p": pick(rng, _PROBABILITIES)}


def _family(
    algorithm: Algorithm, free: dict[str, str], recipes: Callable[[np.random.Generator], Iterator[Recipe]]
) -> Family:
    """Instances whose parameters are those numbers of the recipe that have their names; ``free`` as for the chart."""
    make: Any = algorithm.Params

    def parameters(recipe: Recipe, problem: Problem, exact: bool) -> Any:
        names = make._fields
        check_positive(recipe, *names)
        check_probabilities(recipe.get("p", 1))
        return make(*(number(recipe[name], exact) for name in names))

    return _altered(around_fixed_point(algorithm, free, recipes, parameters))


FAMILIES = {
    "gradient-descent": _family(gradient_descent.algorithm, {"x": "point"}, _descent_recipes),
    "gradient-descent-smooth": _family(gradient_descent.algorithm, {"x": "point"}, _smooth_recipes),
    "saga": _family(saga.algorithm, {"x": "point", "phi": "clients"}, _saga_recipes),
    "svrg": _family(svrg.algorithm, {"w": "point", "w_tilde": "point"}, _svrg_recipes),
    "loopless-svrg": _family(loopless_svrg.algorithm, {"x": "point", "w": "point"}, _loopless_recipes),
}
