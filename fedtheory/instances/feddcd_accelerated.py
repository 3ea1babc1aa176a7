"""Instances for accelerated FedDCD: condition numbers that are squares, so that a and b are rational."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedtheory.algorithms import accelerated_rbcd, accfeddcd
from fedtheory.instances import feddcd
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
from fedtheory.papers.feddcd import accelerated
from fedtheory.papers.feddcd.accelerated import Triple, TripleParams
from fedtheory.problems.base import Problem
from fedtheory.rational import Array

_SQUARES = (Fraction(1), Fraction(9, 4), Fraction(4), Fraction(16), Fraction(100), Fraction(10_000))


def _recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    for recipe in feddcd.dual_recipes(rng, (False, False, True)):
        alpha, beta = recipe["alpha"], recipe["alpha"] * pick(rng, _SQUARES)
        d, clients = recipe["d"], recipe["clients"][:4]
        ends = [tuple(pick(rng, (alpha, beta, (alpha + beta) / 2)) for _ in range(d)) for _ in clients]
        two = any(c["h"] != c["h_above"] for c in clients)
        above = [tuple(pick(rng, (alpha, beta)) for _ in range(d)) for _ in clients] if two else ends
        changed = tuple({**c, "h": h, "h_above": u} for c, h, u in zip(clients, ends, above, strict=True))
        same = {"eta": Fraction(1), "scale": Fraction(1), "tau": min(recipe["tau"], len(clients))}
        yield {**recipe, **same, "beta": beta, "clients": changed}


def _build(recipe: Recipe, exact: bool) -> Instance:
    base = feddcd.dual_build(recipe, exact)
    problem, n, d = base.problem, base.problem.n, base.problem.d
    ratio = recipe["alpha"] / recipe["beta"]
    a, b = (number(v, exact) for v in accfeddcd.acceleration(Fraction(ratio), recipe["tau"], n))
    params = accfeddcd.Params(recipe["tau"], base.params.Lambda, a, b)

    def at(theta: Array) -> tuple[Problem, accfeddcd.State]:
        y, z = (problem.y_star + feddcd.feasible(half, n, d) for half in np.split(theta, 2, axis=1))
        return problem, accfeddcd.State(y, z, y, y)

    def initial(theta: Array) -> tuple[Problem, accfeddcd.State]:
        assert base.initial is not None
        posed, state = base.initial(theta[:, : (n - 1) * d])
        return posed, accfeddcd.State(*(state.y,) * 4)

    def coordinates(state: accfeddcd.State) -> Array:
        both = [(part - problem.y_star)[..., :-1, :] for part in (state.y, state.z)]
        return np.concatenate([part.reshape(*part.shape[:-2], (n - 1) * d) for part in both], axis=-1)

    return replace(
        base,
        params=params,
        dimension=2 * base.dimension,
        at=at,
        initial=initial,
        coordinates=coordinates,
        start=-_doubled((n - 1) * d),
    )


def _doubled(size: int) -> Array:
    """Takes the first half of the coordinates to both halves: y and z start together."""
    one = np.eye(size, dtype=int)
    return np.block([[one, 0 * one], [one, 0 * one]])


def _rbcd_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        n, d = int(pick(rng, (2, 3, 3))), int(pick(rng, (1, 1, 2)))
        top = pick(rng, tuple(Fraction(v) for v in (1, 4, 100, "1/100")))
        mu = top / pick(rng, _SQUARES)
        L = [pick(rng, (top, top, (top + mu) / 2)) for _ in range(n - 1)] + [top]
        yield {
            "d": d,
            "tau": int(rng.integers(2, n + 1)),
            "mu": mu,
            "clients": tuple(
                {"L": v, "h": tuple(pick(rng, (v, mu, (v + mu) / 2)) for _ in range(d)), "c": small(rng, d)} for v in L
            ),
        }


def _rbcd_build(recipe: Recipe, exact: bool) -> Instance:
    check_shape(recipe["d"], recipe["mu"])
    base = feddcd.rbcd_build({**recipe, "level": Fraction(0)}, exact)
    n, d = base.problem.n, base.problem.d
    ratio = Fraction(recipe["mu"]) / max(c["L"] for c in recipe["clients"])
    a, b = (number(v, exact) for v in accfeddcd.acceleration(ratio, recipe["tau"], n))
    params = accelerated_rbcd.Params(recipe["tau"], base.params.L, a, b)
    problem = Problem(base.problem.f, None, (number(recipe["mu"], exact), base.problem.L))
    centre = accelerated_rbcd.fixed_point(problem, params).x

    def at(theta: Array) -> tuple[Problem, accelerated_rbcd.State]:
        x, z = (centre + feddcd.feasible(half, n, d) for half in np.split(theta, 2, axis=1))
        return problem, accelerated_rbcd.State(x, z, x, x)

    def initial(theta: Array) -> tuple[Problem, accelerated_rbcd.State]:
        # The problem is translated rather than the start: x^0 = z^0 is any feasible point.
        return at(np.concatenate([theta[:, : (n - 1) * d]] * 2, axis=1))

    def coordinates(state: accelerated_rbcd.State) -> Array:
        both = [(part - centre)[..., :-1, :] for part in (state.x, state.z)]
        return np.concatenate([part.reshape(*part.shape[:-2], (n - 1) * d) for part in both], axis=-1)

    return replace(
        base,
        problem=problem,
        params=params,
        dimension=2 * (n - 1) * d,
        at=at,
        initial=initial,
        coordinates=coordinates,
        start=_doubled((n - 1) * d),
        text=f"{base.text}; mu={recipe['mu']}",
    )


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


FAMILIES = {
    "accfeddcd": Family(_recipes, _build, feddcd.simpler_duals),
    "accelerated-rbcd": Family(_rbcd_recipes, _rbcd_build),
    "feddcd-triples": Family(_triple_recipes, _triple_build),
    "feddcd-acceleration-constants": constants_family(
        {accelerated.s: SIZES, accelerated.r: SIZES}, lambda values: bool(values["r"] <= 1 and values["s"] <= 1)
    ),
}
