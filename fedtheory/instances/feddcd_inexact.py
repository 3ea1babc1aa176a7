"""Instances for inexact FedDCD: an oracle at an extreme of Definition 5.1 for each client, first guess 0 or exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from fedtheory.algorithms import inexact_rbcd
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
)
from fedtheory.oracles import worst_case
from fedtheory.papers.feddcd import inexact
from fedtheory.problems.base import Problem
from fedtheory.rational import Array

#: Contractions that a delta/2-inexact oracle with delta near 1/2 allows: their squares are at most 0.2304.
_CONTRACTIONS = tuple(Fraction(v, 25) for v in (-12, 0, 12, 6))


def _with_oracles(recipe: Recipe, rng: np.random.Generator) -> Recipe:
    # Now and then the oracles are as inexact as a larger delta allows, for which the theorem has no room.
    wide = pick(rng, (1,) * 15 + (2,))
    clients = tuple({**c, "c": wide * pick(rng, _CONTRACTIONS)} for c in recipe["clients"])
    return {**recipe, "wide": Fraction(wide**2), "clients": clients}


def _recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    for recipe in feddcd.dual_recipes(rng, (False, False, True)):
        clients = recipe["clients"][:4]
        same = {"eta": Fraction(1, 4), "scale": Fraction(1), "tau": min(recipe["tau"], len(clients))}
        changed = {**recipe, **same, "clients": clients}
        yield _with_oracles(changed, rng)


def _build(recipe: Recipe, exact: bool, warm: bool = False) -> Instance:
    base = feddcd.dual_build(recipe, exact)
    oracle = worst_case(numbers([c["c"] for c in recipe["clients"]], exact))
    # Unless it is wide, the largest delta that Theorem 5.2 allows, twice the (1 - kappa)/4 of its oracle.
    n = len(recipe["clients"])
    kappa = Fraction(recipe["tau"] - 1, 32 * (n - 1)) * recipe["alpha"] / recipe["beta"]
    delta = number(recipe["wide"] * (1 - kappa) / 2, exact)
    params = inexact.TrackedParams(recipe["tau"], base.params.Lambda, base.params.eta, oracle, "refresh", delta)

    def initial(theta: Array) -> tuple[Problem, inexact.Tracked]:
        assert base.initial is not None
        posed, state = base.initial(theta)
        y = state.y + 0 * posed.y_star
        guess = posed.f.conjugate_gradient(y) if warm else 0 * y
        return posed, inexact.tracked.init(posed, params, y, guess)

    contractions = ", ".join(str(c["c"]) for c in recipe["clients"])
    # A cold start measures from w* as well, which the coordinates do not move: the sides are not homogeneous then.
    text = f"{base.text}; w*=({', '.join(map(str, recipe['w']))}), oracle contractions {contractions}"
    return replace(base, params=params, at=initial, initial=initial, coordinates=None, text=text)


def _rbcd_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    for recipe in feddcd.rbcd_recipes(rng):
        # Squares, so that eta is rational: L_min/L_max in {1, 1/4} and r in {1, 1/4}.
        n, tau = pick(rng, ((2, 2), (3, 3), (5, 2)))
        scale = pick(rng, tuple(Fraction(v) for v in (1, "1/3", 100, "1/100")))
        low = pick(rng, (1, 4)) if n < 5 else 1
        d = recipe["d"] if n < 5 else 1
        bounds = [scale * v for v in ([low] + [pick(rng, (low, 4)) for _ in range(n - 1)])]
        first = recipe["clients"][0]["c"][:d]
        clients = tuple(
            {
                "L": v,
                "h": tuple(pick(rng, (v, v, v / 10)) for _ in range(d)),
                "c": tuple(x + pick(rng, (0, 1, -1)) for x in first),
                "slack": pick(rng, _CONTRACTIONS),
            }
            for v in bounds
        )
        yield {"d": d, "tau": tau, "level": Fraction(0), "clients": clients}


def _rbcd_build(recipe: Recipe, exact: bool, warm: bool = False) -> Instance:
    base = feddcd.rbcd_build(recipe, exact)
    n = len(recipe["clients"])
    mu = min(v for c in recipe["clients"] for v in c["h"])
    constants = inexact_rbcd.constants(Fraction(mu), numbers([c["L"] for c in recipe["clients"]], True), recipe["tau"])
    check_shape(n, constants.eta)
    if not isinstance(constants.eta, Fraction):
        raise ValueError("eta must be rational")
    oracle = worst_case(numbers([c["slack"] for c in recipe["clients"]], exact))
    # As printed, line 46 of Algorithm 3 resets idle estimates to 0.
    idle = "refresh" if warm else "reset"
    params = inexact_rbcd.Params(recipe["tau"], base.params.L, number(constants.eta, exact), oracle, idle)

    def at(theta: Array) -> tuple[Problem, inexact_rbcd.State]:
        posed, state = base.at(theta)
        return posed, inexact_rbcd.State(state.x, posed.f.gradient(state.x) if warm else 0 * state.x)

    contractions = ", ".join(str(c["slack"]) for c in recipe["clients"])
    text = f"{base.text}; eta={constants.eta}, oracle contractions {contractions}"
    return replace(base, params=params, at=at, initial=at, coordinates=None, text=text)


def _possible(values: Recipe) -> bool:
    return bool(values["mu"] <= values["L_min"] <= values["L_max"] and values["r"] <= 1)


FAMILIES = {
    "inexact-feddcd": Family(_recipes, _build, feddcd.simpler_duals),
    "inexact-feddcd-warm": Family(_recipes, partial(_build, warm=True), feddcd.simpler_duals),
    "inexact-rbcd": Family(_rbcd_recipes, _rbcd_build),
    "inexact-rbcd-warm": Family(_rbcd_recipes, partial(_rbcd_build, warm=True)),
    "feddcd-inexact-constants": constants_family(
        {inexact.mu: SIZES, inexact.L_min: SIZES, inexact.L_max: SIZES, inexact.r: SIZES}, _possible
    ),
}
