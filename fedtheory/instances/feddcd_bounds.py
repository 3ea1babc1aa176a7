"""Instances for FedDCD's lower bound: the hard functions of Appendix F, and constants."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import ceil

import numpy as np

from fedtheory.instances.base import (
    EXPONENTS,
    EXTREMES,
    SIZES,
    Family,
    Instance,
    Recipe,
    check_shape,
    constants_family,
    number,
    pick,
)
from fedtheory.papers.feddcd import lower_bound
from fedtheory.papers.feddcd.lower_bound import HardParams, Vector
from fedtheory.papers.feddcd.rounds import Guess, NewtonParams


def _recipes(rng: np.random.Generator) -> Iterator[Recipe]:
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


def _build(recipe: Recipe, exact: bool) -> Instance:
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


def _second_case(values: Recipe) -> Recipe:
    """Mostly alpha >= beta/N, and the number of functions that the construction then uses."""
    kappa = min(values["kappa"], Fraction(values["N"])) if values["t"] > 1 else values["kappa"]
    return {"kappa": kappa, "m": max(1, ceil(kappa) - 1)}


FAMILIES = {
    "feddcd-hard": Family(_recipes, _build),
    "newton": Family(_newton_recipes, _newton_build),
    "newton-quadratic": Family(_newton_recipes, partial(_newton_build, dimension=2)),
    "feddcd-lower-bound-constants": constants_family(
        {
            lower_bound.N: SIZES,
            lower_bound.tau: SIZES,
            lower_bound.m: SIZES,
            lower_bound.t: EXPONENTS,
            lower_bound.s: SIZES,
            lower_bound.kappa: EXTREMES,
        },
        lambda values: bool(values["kappa"] >= 1),
        _second_case,
    ),
}
