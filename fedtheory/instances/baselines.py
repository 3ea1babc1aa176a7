"""Instances for the rivals of LoCoDL: each method's parameters in binding regimes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fedtheory import compressors, contractive
from fedtheory.algorithms import adiana, compressed_scaffnew, diana, ef21, fedcomgate, fivegcs_cc, gradskip, scaffnew
from fedtheory.contractive import Contractive
from fedtheory.instances.base import SIZES, Recipe, constants_family, number, numbers, pick
from fedtheory.instances.fixed_point import (
    around_fixed_point,
    build_compressors,
    build_problem,
    check_positive,
    check_probabilities,
    compression_recipe,
    problem_recipe,
    scales,
)
from fedtheory.papers import baseline as paper
from fedtheory.problems.base import Problem
from fedtheory.rational import square_root

_PROBABILITIES = tuple(Fraction(v) for v in (1, 1, "1/2", "1/10", "1/30"))


# DIANA


def _diana_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d, compression = compression_recipe(rng)
        n = int(pick(rng, (1, 2) if compression["k"] else (1, 2, 3, 4)))
        L, mu = scales(rng)
        omega = compression["omega"]
        yield {
            **problem_recipe(rng, n, d, L, mu, True),
            **compression,
            "gamma": pick(rng, (1, 1, 1, 1, Fraction(1, 2))) / (L * (1 + pick(rng, (6, 6, 6, 4, 1)) * omega / n)),
            "alpha": pick(rng, (Fraction(1),) * 4 + (Fraction(1, 3), Fraction(3, 2))) / (1 + omega),
        }


def _diana_parameters(recipe: Recipe, problem: Problem, exact: bool) -> diana.Params:
    check_positive(recipe, "gamma", "alpha")
    return diana.Params(
        number(recipe["gamma"], exact), number(recipe["alpha"], exact), build_compressors(recipe, exact)
    )


# EF21. 1 - alpha is a square, so that theta is rational.

#: (d, k, alpha): top-k, or a scaled Bernoulli compressor where k = 0.
_CONTRACTIONS = (
    *((1, 0, Fraction(a)) for a in (1, "3/4", "3/4", "5/9", "5/9", "19/100", "19/100")),
    (2, 0, Fraction(5, 9)),
    (2, 1, Fraction(7, 16)),
    (2, 1, Fraction(3, 4)),
    (3, 2, Fraction(5, 9)),
)


def _ef21_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d, k, alpha = pick(rng, _CONTRACTIONS)
        n = int(pick(rng, (1, 2) if d > 1 else (1, 2, 2, 3)))
        # Stepsizes have nine digits: of a size far from 1 they leave certificates no room.
        L, mu = scales(rng, (1, 1, "1/2", 4))
        recipe = problem_recipe(rng, n, d, L, mu, True)
        problem, _ = build_problem(recipe, True)
        gamma = _ef21_stepsize(problem, alpha, pick(rng, (1, 2, 2, 2)), pick(rng, (True, True, True, False)))
        factor = pick(rng, (Fraction(1),) * 8 + (Fraction(1, 2), Fraction(2), Fraction(5)))
        yield {**recipe, "k": k, "alpha": alpha, "gamma": gamma * factor}


def _ef21_stepsize(problem: Problem, alpha: Fraction, times: int, slow: bool) -> Fraction:
    """The largest gamma of the theorem; rounded down to nine digits, since it is irrational unless alpha = 1."""
    L, mu, theta = problem.f.L.mean(), problem.f.mu.mean(), square_root(1 - alpha)
    if alpha == 1:
        return min(1 / L, 1 / (2 * mu)) if slow else Fraction(1 / L)
    root = (times * float((problem.f.L**2).mean()) * (1 - float(alpha))) ** 0.5 / (1 - float(theta))
    largest = 1 / (float(L) + root)
    if slow:
        largest = min(largest, (1 - float(theta)) / (2 * float(mu)))
    return Fraction(int(largest * 10**9), 10**9)


def _ef21_parameters(recipe: Recipe, problem: Problem, exact: bool) -> ef21.Params:
    check_positive(recipe, "gamma", "alpha")
    d, k, alpha = recipe["d"], recipe["k"], number(recipe["alpha"], exact)
    if alpha > 1 or not isinstance(square_root(1 - Fraction(recipe["alpha"])), Fraction):
        raise ValueError("1 - alpha must be the square of a rational")
    one: Contractive = contractive.top_k(d, k) if k else contractive.scaled(compressors.bernoulli(d, 1 / alpha - 1))
    return ef21.Params(number(recipe["gamma"], exact), alpha, one)


# ADIANA. omega = n/(32 q^2), so that p is rational; mu such that theta_1 is.


def _adiana_constants(n: int, q: Fraction, L: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """(omega, p, eta) of the theorem."""
    omega = n / (32 * q**2)
    p = min(Fraction(1), max(Fraction(1), q - 1) / (2 * (1 + omega)))
    return omega, p, min(1 / (2 * L), n / (64 * omega * (2 * p * (omega + 1) + 1) ** 2 * L))


_ADIANA_NAMES = ("alpha", "p", "eta", "theta_1", "theta_2", "gamma", "beta")


def _adiana_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        n, d = int(pick(rng, (1, 2, 3))), int(pick(rng, (1, 1, 1, 2)))
        q = pick(rng, tuple(Fraction(v) for v in ("1/8", "1/4", "1/2", 1, 2, "5/2", 4, 10)))
        L = pick(rng, tuple(Fraction(v) for v in (1, 1, 3, 100, "1/100")))
        omega, p, eta = _adiana_constants(n, q, L)
        theta_1 = pick(rng, tuple(Fraction(v) for v in ("1/4", "1/5", "1/8", "1/40")))
        mu = pick(rng, (L, theta_1**2 * p / eta, theta_1**2 * p / eta))
        if mu <= L and (eta * mu / p == theta_1**2 or eta * mu / p >= Fraction(1, 16)):
            joint = pick(rng, ("independent",) * 5 + ("shared",))
            recipe = problem_recipe(rng, n, d, L, mu, n < 3)
            # Each constant follows from the others: now and then one of them is off.
            off = {"off": pick(rng, _ADIANA_NAMES), "times": pick(rng, (Fraction(4, 9), Fraction(9, 4)))}
            yield {**recipe, "k": 0, "omega": omega, "joint": joint, "q": q, **pick(rng, ({},) * 5 + (off,))}


def _adiana_parameters(recipe: Recipe, problem: Problem, exact: bool) -> adiana.Params:
    check_positive(recipe, "q")
    omega, p, eta = _adiana_constants(problem.n, Fraction(recipe["q"]), Fraction(recipe["L"]))
    if omega != recipe["omega"]:
        raise ValueError("omega must be n/(32 q^2)")

    def off(name: str, value: Fraction) -> Fraction:
        # What follows from a constant that is off follows from its actual value.
        return value * recipe["times"] if recipe.get("off") == name else value

    mu = Fraction(recipe["mu"])
    p, eta = off("p", p), off("eta", eta)
    ratio = eta * mu / p
    theta_1 = square_root(ratio) if ratio < Fraction(1, 16) else Fraction(1, 4)
    if not isinstance(theta_1, Fraction):
        raise ValueError("theta_1 must be rational")
    theta_1 = off("theta_1", theta_1)
    gamma = off("gamma", eta / (2 * (theta_1 + eta * mu)))
    theta_2, beta = off("theta_2", Fraction(1, 2)), off("beta", 1 - gamma * mu)
    check_probabilities(p)
    values = (off("alpha", 1 / (1 + omega)), p, eta, theta_1, theta_2, gamma, beta)
    scalars = {name: number(value, exact) for name, value in zip(_ADIANA_NAMES, values, strict=True)}
    return adiana.Params(**scalars, compressors=build_compressors(recipe, exact))


# Scaffnew and its descendants


def _scaffnew_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        n, d = int(pick(rng, (1, 2, 3, 4))), int(pick(rng, (1, 1, 2)))
        L, mu = scales(rng)
        gamma = pick(rng, (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(1, 10), Fraction(5, 2))) / L
        yield {**problem_recipe(rng, n, d, L, mu, True), "gamma": gamma, "p": pick(rng, _PROBABILITIES)}


def _scaffnew_parameters(recipe: Recipe, problem: Problem, exact: bool) -> scaffnew.Params:
    check_positive(recipe, "gamma", "p")
    check_probabilities(recipe["p"])
    return scaffnew.Params(number(recipe["gamma"], exact), number(recipe["p"], exact))


def _gradskip_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        n, d = int(pick(rng, (1, 2, 3))), int(pick(rng, (1, 1, 2)))
        L, mu = scales(rng)
        recipe = problem_recipe(rng, n, d, L, mu, True)
        problem, _ = build_problem(recipe, True)
        p, L_i = pick(rng, _PROBABILITIES), problem.f.L
        largest = max(L_i)
        if pick(rng, (True, False)) and largest > mu and isinstance(square_root(mu / largest), Fraction):
            # The printed choice, where it is rational.
            p, q = square_root(mu / largest), [(1 - mu / v) / (1 - mu / largest) for v in L_i]
        else:
            q = [pick(rng, tuple(Fraction(v) for v in (0, "1/2", "9/10", 1))) for _ in L_i]
        bound = min(p**2 / (v * (1 - w * (1 - p**2))) for v, w in zip(L_i, q, strict=True))
        clients = tuple({**c, "q": w} for c, w in zip(recipe["clients"], q, strict=True))
        factor = pick(rng, (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(3, 2)))
        yield {**recipe, "clients": clients, "gamma": bound * factor, "p": p}


def _gradskip_parameters(recipe: Recipe, problem: Problem, exact: bool) -> gradskip.Params:
    q = numbers([c["q"] for c in recipe["clients"]], exact)
    check_probabilities(*q)
    return gradskip.Params(*_scaffnew_parameters(recipe, problem, exact), q)


def _compressed_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    # Both regimes: entries wrap around the template (s d > n), or leave clients idle (s d < n).
    shapes = (
        (2, 1, 2),
        (3, 1, 2),
        (3, 1, 3),
        (4, 1, 2),
        (4, 1, 3),
        (2, 2, 2),
        (3, 2, 2),
        (3, 2, 3),
        (4, 2, 2),
        (5, 2, 2),
    )
    while True:
        n, d, s = pick(rng, shapes)
        L, mu = scales(rng)
        gamma = pick(
            rng, (1 / L, 2 / (L + mu), 2 / (L + mu), Fraction(9, 5) / L, Fraction(1, 10) / L, Fraction(5, 2) / L)
        )
        eta = Fraction(n * (s - 1), s * (n - 1)) * pick(rng, (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(3, 2)))
        scalars = {"gamma": gamma, "eta": eta, "p": pick(rng, _PROBABILITIES), "s": s}
        yield {**problem_recipe(rng, n, d, L, mu, n < 4), **scalars}


def _compressed_parameters(recipe: Recipe, problem: Problem, exact: bool) -> compressed_scaffnew.Params:
    check_positive(recipe, "gamma", "eta", "p")
    check_probabilities(recipe["p"])
    compressed_scaffnew.Pattern(problem.n, problem.d, recipe["s"])
    scalars = {name: number(recipe[name], exact) for name in ("gamma", "eta", "p")}
    return compressed_scaffnew.Params(**scalars, s=recipe["s"])


# 5GCS-CC


def _5gcs_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d, compression = compression_recipe(rng)
        n = int(pick(rng, (1, 2) if compression["k"] else (1, 2, 3, 3)))
        C = int(rng.integers(1, n + 1))
        L, mu = scales(rng)
        gamma = pick(rng, tuple(Fraction(v) for v in ("1/100", "1/10", "1/3", 1, 3, 10, 100))) / L
        load = n + Fraction(n, C) * compression["omega"]
        tau = pick(rng, (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(3, 2))) / (gamma * load)
        yield {**problem_recipe(rng, n, d, L, mu, False), **compression, "gamma": gamma, "tau": tau, "C": C}


def _5gcs_parameters(recipe: Recipe, problem: Problem, exact: bool) -> fivegcs_cc.Params:
    check_positive(recipe, "gamma", "tau")
    if not 1 <= recipe["C"] <= problem.n:
        raise ValueError("between 1 and all clients must be sampled")
    gamma, tau, omega = (number(recipe[name], exact) for name in ("gamma", "tau", "omega"))
    return fivegcs_cc.Params(gamma, tau, recipe["C"], omega, build_compressors(recipe, exact))


# FedCOMGATE


def _fedcomgate_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d, compression = compression_recipe(rng, tuple(Fraction(v) for v in (0, "1/8", "1/2", 1, 3)))
        n = int(pick(rng, (1, 2) if d > 1 else (1, 2, 3)))
        L, mu = scales(rng)
        K = int(pick(rng, (1, 2, 3)))
        gamma = pick(rng, (Fraction(1, 2), Fraction(1), Fraction(K)))
        largest = 1 / (2 * L * (1 + compression["omega"]) * gamma * K)
        eta = largest * pick(rng, (Fraction(1), Fraction(1), Fraction(1, 10), Fraction(4)))
        yield {**problem_recipe(rng, n, d, L, mu, False), **compression, "eta": eta, "gamma": gamma, "K": K}


def _fedcomgate_parameters(recipe: Recipe, problem: Problem, exact: bool) -> fedcomgate.Params:
    check_positive(recipe, "eta", "gamma", "K")
    eta, gamma = number(recipe["eta"], exact), number(recipe["gamma"], exact)
    return fedcomgate.Params(eta, gamma, recipe["K"], build_compressors(recipe, exact))


_CONSTANTS = (paper.mu, paper.L, paper.alpha, paper.omega, paper.kappa_i, paper.kappa_max, paper.n, paper.s)

FAMILIES = {
    "diana": around_fixed_point(diana.algorithm, {"x": "point", "h": "clients"}, _diana_recipes, _diana_parameters),
    "ef21": around_fixed_point(
        ef21.algorithm,
        {"x": "point", "g": "clients"},
        _ef21_recipes,
        _ef21_parameters,
        lambda recipe: recipe["k"] == 0,
    ),
    "adiana": around_fixed_point(
        adiana.algorithm,
        {"y": "point", "z": "point", "w": "point", "h": "clients"},
        _adiana_recipes,
        _adiana_parameters,
    ),
    "scaffnew": around_fixed_point(
        scaffnew.algorithm, {"x": "clients", "h": "balanced"}, _scaffnew_recipes, _scaffnew_parameters
    ),
    "gradskip": around_fixed_point(
        gradskip.algorithm, {"x": "clients", "h": "clients"}, _gradskip_recipes, _gradskip_parameters
    ),
    "compressed-scaffnew": around_fixed_point(
        compressed_scaffnew.algorithm, {"x": "clients", "h": "balanced"}, _compressed_recipes, _compressed_parameters
    ),
    "5gcs-cc": around_fixed_point(
        fivegcs_cc.algorithm, {"x": "point", "u": "clients"}, _5gcs_recipes, _5gcs_parameters
    ),
    "fedcomgate": around_fixed_point(
        fedcomgate.algorithm, {"w": "point", "delta": "balanced"}, _fedcomgate_recipes, _fedcomgate_parameters
    ),
    "baseline-constants": constants_family(dict.fromkeys(_CONSTANTS, SIZES)),
}
