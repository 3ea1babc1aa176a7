"""Instances for the rivals of LoCoDL: curvatures at the ends of the class, extreme compressors, binding regimes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import compressors, contractive
from fedtheory.algorithms import adiana, compressed_scaffnew, diana, ef21, fedcomgate, fivegcs_cc, gradskip, scaffnew
from fedtheory.algorithms.base import Algorithm
from fedtheory.compressors import Family as Compressors
from fedtheory.contractive import Contractive
from fedtheory.optimum import Optimum
from fedtheory.papers import baseline as paper
from fedtheory.problems.base import Functions, Problem
from fedtheory.problems.quadratic import diagonal
from fedtheory.problems.two_slope import TwoSlope
from fedtheory.rational import Array, square_root
from verify.evidence import Recipe
from verify.settings.base import SIZES, Family, Instance, check_shape, constants_family, number, numbers, pick, small

_KAPPAS = tuple(Fraction(v) for v in (1, "3/2", 2, 4, 10, 100, 1000))
_OMEGAS = tuple(Fraction(v) for v in (0, "1/8", 1, 3, 10))
_PROBABILITIES = tuple(Fraction(v) for v in (1, 1, "1/2", "1/10", "1/30"))


def _problem_recipe(rng: np.random.Generator, n: int, d: int, L: Fraction, mu: Fraction, kinks: bool) -> Recipe:
    """n functions with curvatures at the ends mu and L of the class, sometimes between."""
    style = pick(rng, ((mu,), (L,), (mu, L), (mu, L), (mu, L, (mu + L) / 2)))
    two = kinks and pick(rng, (False, False, False, False, True))

    def client() -> Recipe:
        recipe = {"h": tuple(pick(rng, style) for _ in range(d)), "y": small(rng, d)}
        if not two:
            return recipe
        return {**recipe, "h_above": tuple(pick(rng, (mu, L)) for _ in range(d)), "kink": small(rng, d)}

    return {"d": d, "mu": mu, "L": L, "x": small(rng, d), "clients": tuple(client() for _ in range(n))}


def _scales(rng: np.random.Generator) -> tuple[Fraction, Fraction]:
    """(L, mu)."""
    L = pick(rng, tuple(Fraction(v) for v in (1, 1, "1/2", 4, 100, "1/100")))
    return L, L / pick(rng, _KAPPAS)


def _problem(recipe: Recipe, exact: bool) -> tuple[Problem, bool]:
    """The problem, and whether it is quadratic. The gradients at the optimum x are the y_i less their mean.

    Clients with an ``h_above`` have kinks; either all have or none.
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


def _compressors(recipe: Recipe, exact: bool) -> Compressors:
    d, k = recipe["d"], recipe["k"]
    one = compressors.rand_k(d, k) if k else compressors.bernoulli(d, number(recipe["omega"], exact))
    return Compressors(one, len(recipe["clients"]), recipe["joint"])


def _compression_recipe(rng: np.random.Generator, omegas: tuple[Fraction, ...] = _OMEGAS) -> tuple[int, Recipe]:
    """A dimension, and a compressor for it: mostly Bernoulli's, the extreme point of U(omega)."""
    k, d = pick(rng, ((0, 1),) * 6 + ((0, 2), (1, 2), (1, 3)))
    omega = Fraction(d, k) - 1 if k else pick(rng, omegas)
    return d, {"k": k, "omega": omega, "joint": pick(rng, ("independent",) * 5 + ("shared",))}


# A chart of the states: which parts of the initial state are free, around the fixed point. A "point" has shape (d,),
# "clients" (n, d), "balanced" (n, d) with blocks that sum to zero.


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


def _family(
    algorithm: Algorithm,
    free: dict[str, str],
    recipes: Callable[[np.random.Generator], Iterator[Recipe]],
    parameters: Callable[[Recipe, Problem, bool], Any],
    linear: Callable[[Recipe], bool] = lambda recipe: True,
) -> Family:
    """Instances of one algorithm. ``parameters(recipe, problem, exact)`` builds its Params or raises ``ValueError``;
    ``linear(recipe)``: whether its draws act linearly."""

    def build(recipe: Recipe, exact: bool) -> Instance:
        problem, quadratic = _problem(recipe, exact)
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


def _positive(recipe: Recipe, *names: str) -> None:
    if any(recipe[name] <= 0 for name in names):
        raise ValueError(f"{', '.join(names)} must be positive")


# DIANA


def _diana_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d, compression = _compression_recipe(rng)
        n = int(pick(rng, (1, 2) if compression["k"] else (1, 2, 3, 4)))
        L, mu = _scales(rng)
        omega = compression["omega"]
        yield {
            **_problem_recipe(rng, n, d, L, mu, True),
            **compression,
            "gamma": pick(rng, (1, 1, 1, 1, Fraction(1, 2))) / (L * (1 + pick(rng, (6, 6, 6, 4, 1)) * omega / n)),
            "alpha": pick(rng, (Fraction(1),) * 4 + (Fraction(1, 3), Fraction(3, 2))) / (1 + omega),
        }


def _diana_parameters(recipe: Recipe, problem: Problem, exact: bool) -> diana.Params:
    _positive(recipe, "gamma", "alpha")
    return diana.Params(number(recipe["gamma"], exact), number(recipe["alpha"], exact), _compressors(recipe, exact))


# EF21. 1 - alpha is a square, so that theta is rational.

#: (d, k, alpha): top-k, or a scaled Bernoulli compressor where k = 0.
_CONTRACTIONS = (
    *((1, 0, Fraction(a)) for a in (1, "3/4", "3/4", "5/9", "5/9", "19/100", "19/100")),
    (2, 0, Fraction(5, 9)),
    (2, 1, Fraction(7, 16)),
    (3, 2, Fraction(5, 9)),
)


def _ef21_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d, k, alpha = pick(rng, _CONTRACTIONS)
        n = int(pick(rng, (1, 2) if d > 1 else (1, 2, 2, 3)))
        L, mu = _scales(rng)
        recipe = _problem_recipe(rng, n, d, L, mu, True)
        problem, _ = _problem(recipe, True)
        L_mean, L_square = float(problem.f.L.mean()), float((problem.f.L**2).mean())
        theta = 1 - (1 - float(alpha)) ** 0.5
        root = (pick(rng, (1, 2, 2, 2)) * L_square * (1 - float(alpha))) ** 0.5 / theta
        largest = 1 / (L_mean + root)
        if pick(rng, (True, True, True, False)):
            largest = min(largest, theta / (2 * float(problem.f.mu.mean())))
        # Rounded down to nine digits: the bound is irrational.
        gamma = Fraction(int(largest * 10**9), 10**9)
        factor = pick(rng, (Fraction(1),) * 8 + (Fraction(1, 2), Fraction(2), Fraction(5)))
        yield {**recipe, "k": k, "alpha": alpha, "gamma": gamma * factor}


def _ef21_parameters(recipe: Recipe, problem: Problem, exact: bool) -> ef21.Params:
    _positive(recipe, "gamma", "alpha")
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
            recipe = _problem_recipe(rng, n, d, L, mu, n < 3)
            yield {**recipe, "k": 0, "omega": omega, "joint": joint, "q": q}


def _adiana_parameters(recipe: Recipe, problem: Problem, exact: bool) -> adiana.Params:
    _positive(recipe, "q")
    omega, p, eta = _adiana_constants(problem.n, Fraction(recipe["q"]), Fraction(recipe["L"]))
    if omega != recipe["omega"]:
        raise ValueError("omega must be n/(32 q^2)")
    mu = Fraction(recipe["mu"])
    ratio = eta * mu / p
    theta_1 = square_root(ratio) if ratio < Fraction(1, 16) else Fraction(1, 4)
    if not isinstance(theta_1, Fraction):
        raise ValueError("theta_1 must be rational")
    gamma = eta / (2 * (theta_1 + eta * mu))
    names = ("alpha", "p", "eta", "theta_1", "theta_2", "gamma", "beta")
    values = (1 / (1 + omega), p, eta, theta_1, Fraction(1, 2), gamma, 1 - gamma * mu)
    scalars = {name: number(value, exact) for name, value in zip(names, values, strict=True)}
    return adiana.Params(**scalars, compressors=_compressors(recipe, exact))


# Scaffnew and its descendants


def _scaffnew_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        n, d = int(pick(rng, (1, 2, 3, 4))), int(pick(rng, (1, 1, 2)))
        L, mu = _scales(rng)
        gamma = pick(rng, (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(1, 10), Fraction(5, 2))) / L
        yield {**_problem_recipe(rng, n, d, L, mu, True), "gamma": gamma, "p": pick(rng, _PROBABILITIES)}


def _scaffnew_parameters(recipe: Recipe, problem: Problem, exact: bool) -> scaffnew.Params:
    _positive(recipe, "gamma", "p")
    return scaffnew.Params(number(recipe["gamma"], exact), number(recipe["p"], exact))


def _gradskip_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        n, d = int(pick(rng, (1, 2, 3))), int(pick(rng, (1, 1, 2)))
        L, mu = _scales(rng)
        recipe = _problem_recipe(rng, n, d, L, mu, True)
        problem, _ = _problem(recipe, True)
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
        L, mu = _scales(rng)
        gamma = pick(
            rng, (1 / L, 2 / (L + mu), 2 / (L + mu), Fraction(9, 5) / L, Fraction(1, 10) / L, Fraction(5, 2) / L)
        )
        eta = Fraction(n * (s - 1), s * (n - 1)) * pick(rng, (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(3, 2)))
        scalars = {"gamma": gamma, "eta": eta, "p": pick(rng, _PROBABILITIES), "s": s}
        yield {**_problem_recipe(rng, n, d, L, mu, n < 4), **scalars}


def _compressed_parameters(recipe: Recipe, problem: Problem, exact: bool) -> compressed_scaffnew.Params:
    _positive(recipe, "gamma", "eta", "p")
    compressed_scaffnew.Pattern(problem.n, problem.d, recipe["s"])
    scalars = {name: number(recipe[name], exact) for name in ("gamma", "eta", "p")}
    return compressed_scaffnew.Params(**scalars, s=recipe["s"])


# 5GCS-CC


def _5gcs_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d, compression = _compression_recipe(rng)
        n = int(pick(rng, (1, 2) if compression["k"] else (1, 2, 3, 3)))
        C = int(rng.integers(1, n + 1))
        L, mu = _scales(rng)
        gamma = pick(rng, tuple(Fraction(v) for v in ("1/100", "1/10", "1/3", 1, 3, 10, 100))) / L
        load = n + Fraction(n, C) * compression["omega"]
        tau = pick(rng, (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(3, 2))) / (gamma * load)
        yield {**_problem_recipe(rng, n, d, L, mu, False), **compression, "gamma": gamma, "tau": tau, "C": C}


def _5gcs_parameters(recipe: Recipe, problem: Problem, exact: bool) -> fivegcs_cc.Params:
    _positive(recipe, "gamma", "tau")
    if not 1 <= recipe["C"] <= problem.n:
        raise ValueError("between 1 and all clients must be sampled")
    gamma, tau, omega = (number(recipe[name], exact) for name in ("gamma", "tau", "omega"))
    return fivegcs_cc.Params(gamma, tau, recipe["C"], omega, _compressors(recipe, exact))


# FedCOMGATE


def _fedcomgate_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d, compression = _compression_recipe(rng, tuple(Fraction(v) for v in (0, "1/8", "1/2", 1, 3)))
        n = int(pick(rng, (1, 2) if d > 1 else (1, 2, 3)))
        L, mu = _scales(rng)
        K = int(pick(rng, (1, 2, 3)))
        gamma = pick(rng, (Fraction(1, 2), Fraction(1), Fraction(K)))
        largest = 1 / (2 * L * (1 + compression["omega"]) * gamma * K)
        eta = largest * pick(rng, (Fraction(1), Fraction(1), Fraction(1, 10), Fraction(4)))
        yield {**_problem_recipe(rng, n, d, L, mu, False), **compression, "eta": eta, "gamma": gamma, "K": K}


def _fedcomgate_parameters(recipe: Recipe, problem: Problem, exact: bool) -> fedcomgate.Params:
    _positive(recipe, "eta", "gamma", "K")
    eta, gamma = number(recipe["eta"], exact), number(recipe["gamma"], exact)
    return fedcomgate.Params(eta, gamma, recipe["K"], _compressors(recipe, exact))


_CONSTANTS = (paper.mu, paper.L, paper.alpha, paper.omega, paper.kappa_i, paper.kappa_max, paper.n, paper.s)

FAMILIES = {
    "diana": _family(diana.algorithm, {"x": "point", "h": "clients"}, _diana_recipes, _diana_parameters),
    "ef21": _family(
        ef21.algorithm,
        {"x": "point", "g": "clients"},
        _ef21_recipes,
        _ef21_parameters,
        lambda recipe: recipe["k"] == 0,
    ),
    "adiana": _family(
        adiana.algorithm,
        {"y": "point", "z": "point", "w": "point", "h": "clients"},
        _adiana_recipes,
        _adiana_parameters,
    ),
    "scaffnew": _family(scaffnew.algorithm, {"x": "clients", "h": "balanced"}, _scaffnew_recipes, _scaffnew_parameters),
    "gradskip": _family(gradskip.algorithm, {"x": "clients", "h": "clients"}, _gradskip_recipes, _gradskip_parameters),
    "compressed-scaffnew": _family(
        compressed_scaffnew.algorithm, {"x": "clients", "h": "balanced"}, _compressed_recipes, _compressed_parameters
    ),
    "5gcs-cc": _family(fivegcs_cc.algorithm, {"x": "point", "u": "clients"}, _5gcs_recipes, _5gcs_parameters),
    "fedcomgate": _family(
        fedcomgate.algorithm, {"w": "point", "delta": "balanced"}, _fedcomgate_recipes, _fedcomgate_parameters
    ),
    "baseline-constants": constants_family(
        dict.fromkeys(_CONSTANTS, SIZES), lambda recipe: recipe["mu"] <= recipe["L"] and recipe["alpha"] <= 1
    ),
}
