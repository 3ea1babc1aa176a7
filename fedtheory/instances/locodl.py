"""Instances for LoCoDL: quadratics and two-slope functions at the ends of their class, extreme compressors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import compressors
from fedtheory.algorithms import locodl
from fedtheory.compressors import Family as Compressors
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
from fedtheory.papers.locodl import method as paper
from fedtheory.papers.locodl.method import CompressionParams, CompressorParams, ConsensusParams, Lifted
from fedtheory.papers.locodl.remarks import Remembering
from fedtheory.problems.base import Functions, Problem
from fedtheory.problems.quadratic import diagonal
from fedtheory.problems.two_slope import TwoSlope
from fedtheory.rational import Array

_KAPPAS = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(10), Fraction(1000))
#: chi as a share of the largest that Theorem 3.1 allows; above 1 its hypothesis fails.
_CHI = (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(1, 4), Fraction(101, 100), Fraction(21, 20), Fraction(5, 4))
_OMEGAS = (Fraction(0), Fraction(1, 8), Fraction(1), Fraction(3), Fraction(10))


def _compressors(recipe: Recipe, n: int, d: int, exact: bool) -> Compressors:
    if recipe["k"]:
        one = compressors.rand_k(d, recipe["k"])
    else:
        one = compressors.bernoulli(d, number(recipe["omega"], exact))
    return Compressors(one, n, recipe["joint"])


def _recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    yield from _problems(rng, (False, False, False, True))


def _quadratic_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    for recipe in _problems(rng, (False,)):
        # rho = 1 with noisy compressors, as Remark 2.2 has it.
        yield {**recipe, "rho": Fraction(1), "chi": Fraction(1, 2)} if pick(rng, (True, False)) else recipe


def _pairwise_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    for recipe in _problems(rng, (False,)):
        if recipe["d"] == 1:
            rho = recipe["rho"] * 0 + pick(rng, (Fraction(1), Fraction(1, 2)))
            spread = 2 if recipe["joint"] == "shared" else 1 + Fraction(1, len(recipe["clients"]))
            rho = rho / spread
            chi = 2 * rho - rho**2 * spread
            yield {**recipe, "k": 0, "omega": Fraction(1), "rho": rho, "chi": chi, "p": pick(rng, (1, Fraction(1, 2)))}


def _problems(rng: np.random.Generator, with_kinks: tuple[bool, ...]) -> Iterator[Recipe]:
    while True:
        n = int(pick(rng, (1, 2, 2, 3, 3, 5)))
        k, d = pick(rng, ((0, 1),) * 6 + ((1, 2), (1, 3), (2, 3)))
        n = min(n, 2) if k else n
        L = pick(rng, tuple(Fraction(v) for v in (1, 1, "1/2", 4, 100, "1/100")))
        kappa = pick(rng, _KAPPAS)
        mu = L / kappa
        omega = Fraction(d, k) - 1 if k else pick(rng, _OMEGAS)
        joint = pick(rng, ("independent", "independent", "shared"))
        omega_av = omega / n if joint == "independent" else omega
        rho = pick(rng, (Fraction(1), Fraction(1), Fraction(1, 2), Fraction(3, 2))) / (1 + omega_av)
        largest = 2 * rho - rho**2 * (1 + omega_av)
        gamma = pick(rng, (1 / L, 2 / (L + mu), Fraction(3, 2) / L, Fraction(9, 5) / L, Fraction(1, 2) / L))
        slopes: tuple[Any, ...] = ((mu,), (L,), (mu, L), (mu, L, (mu + L) / 2))
        mine, theirs = pick(rng, slopes), pick(rng, slopes)
        two = pick(rng, with_kinks)

        def client(options: Any, two: bool = two, d: int = d, everywhere: Any = (mu, L)) -> dict[str, tuple[Any, ...]]:
            h = tuple(pick(rng, options) for _ in range(d))
            above = tuple(pick(rng, everywhere) for _ in range(d)) if two else h
            return {"h": h, "h_above": above, "u": small(rng, d), "kink": small(rng, d) if two else (0,) * d}

        yield {
            "d": d,
            "k": k,
            "omega": omega,
            "joint": joint,
            "mu": mu,
            # Now and then the constants declared are not those of the functions.
            "L": L * pick(rng, (Fraction(1),) * 15 + (Fraction(4, 5),)),
            "gamma": gamma * pick(rng, (Fraction(1),) * 9 + (Fraction(5, 2),)),
            "rho": rho,
            "chi": largest * pick(rng, _CHI),
            "p": pick(rng, (Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 10))),
            "x": small(rng, d),
            "g": client(theirs),
            "clients": tuple(client(mine) for _ in range(n)),
        }


def _functions(parts: Any, slope: Array, x: Array, exact: bool) -> tuple[Functions, bool]:
    """Functions with gradients ``slope (n, d)`` at x: quadratics, or two-slope functions with kinks near x."""
    below, above = (numbers([c[key] for c in parts], exact) for key in ("h", "h_above"))
    if (below == above).all():
        return diagonal(below, x - slope / below), True
    kink = numbers([c["kink"] for c in parts], exact)
    return TwoSlope(below, above, x + kink, slope + np.where(kink > 0, below, above) * kink), False


def _build(recipe: Recipe, exact: bool) -> Instance:
    d, clients = recipe["d"], recipe["clients"]
    n = len(clients)
    if n < 1:
        raise ValueError("LoCoDL takes at least one client")
    parts = (*clients, recipe["g"])
    check_shape(d, recipe["mu"], recipe["L"], *(v for c in parts for v in (*c["h"], *c["h_above"])))
    x = numbers(recipe["x"], exact)
    u = numbers([c["u"] for c in clients], exact)
    v = -u.sum(axis=0) / n
    f, f_quadratic = _functions(clients, u, x, exact)
    g, g_quadratic = _functions([recipe["g"]], v[None], x, exact)
    problem = Problem(f, g, (number(recipe["mu"], exact), number(recipe["L"], exact)), Optimum(x, u, 0.0))
    family = _compressors(recipe, n, d, exact)
    scalars = {name: number(recipe[name], exact) for name in ("gamma", "chi", "rho", "p", "omega")}
    if not 0 < scalars["p"] <= 1 or min(scalars["gamma"], scalars["chi"], scalars["rho"]) <= 0:
        raise ValueError("stepsizes must be positive and p in (0, 1]")
    params = locodl.Params(**scalars, compressors=family)

    def at(theta: Array) -> tuple[Problem, locodl.State]:
        blocks = theta.reshape(len(theta), 1, 2 * n + 1, d)
        return problem, locodl.init(
            problem, params, x + blocks[..., :n, :], x + blocks[..., n, :], u + blocks[..., n + 1 :, :]
        )

    def coordinates(state: locodl.State) -> Array:
        blocks = np.concatenate([state.x - x, (state.y - x)[..., None, :], state.u - u], axis=-2)
        return blocks.reshape(*blocks.shape[:-2], (2 * n + 1) * d)

    def words(c: Any) -> str:
        return "(" + ", ".join(map(str, c["h"])) + ")"

    quadratic = f_quadratic and g_quadratic
    text = (
        f"n={n}, d={d}, mu={recipe['mu']}, L={recipe['L']}, gamma={recipe['gamma']}, chi={recipe['chi']}, "
        f"rho={recipe['rho']}, p={recipe['p']}, omega={recipe['omega']}, {family.compressor.name}, {recipe['joint']}; "
        f"{'quadratics with Hessians diag' if quadratic else 'two-slope functions with slopes below their kinks'} "
        f"f: {', '.join(map(words, clients))}, g: {words(recipe['g'])}"
    )
    size = (2 * n + 1) * d
    return Instance(problem, params, size, at, at, coordinates, np.eye(size, dtype=int), quadratic, text)


def _pairwise_build(recipe: Recipe, exact: bool) -> Instance:
    """The instance with states that remember the coins of earlier iterations; fair coins only."""
    base = _build(recipe, exact)
    if recipe["k"] or recipe["omega"] != 1 or recipe["d"] != 1:
        raise ValueError("pairwise independent compressors are made of fair coins")

    def at(theta: Array) -> tuple[Problem, Remembering]:
        problem, state = base.at(theta)
        flags = np.zeros((len(theta), 1, problem.n), dtype=bool)
        t = np.zeros((len(theta), 1), dtype=int)
        return problem, Remembering(state.x, state.y, state.u, state.v, t, flags, flags)

    return replace(base, at=at, initial=at, coordinates=None)


def _split_build(recipe: Recipe, exact: bool) -> Instance:
    """The f_i of a recipe without its g, and any x."""
    base = _build(recipe, exact)
    f = base.problem.f
    if min(f.mu) < base.problem.mu or max(f.L) > base.problem.L:
        # What is left of f_i without its share of the quadratic part would not be convex.
        raise ValueError("the f_i must be mu-strongly convex and L-smooth")
    problem = Problem(f, None, base.problem.declared)
    return replace(
        base,
        problem=problem,
        dimension=f.d,
        at=lambda theta: (problem, Lifted(theta[:, None, None], theta[:, None])),
        initial=None,
        coordinates=None,
    )


def _consensus_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        yield {"n": int(pick(rng, (1, 2, 3, 5))), "d": int(pick(rng, (1, 2, 3)))}


def _lifted(theta: Array, n: int, d: int) -> Lifted:
    blocks = theta.reshape(len(theta), 1, n + 1, d)
    return Lifted(blocks[..., :n, :], blocks[..., n, :])


def _consensus_build(recipe: Recipe, exact: bool) -> Instance:
    n, d = recipe["n"], recipe["d"]
    check_shape(d, n)
    text = f"n={n}, d={d}"
    return Instance(None, ConsensusParams(n), (n + 1) * d, lambda theta: (None, _lifted(theta, n, d)), text=text)


def _compression_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        d = int(pick(rng, (1, 1, 2, 3)))
        k = int(rng.integers(0, d + 1))
        yield {
            "n": int(pick(rng, (1, 2, 3))),
            "d": d,
            "k": k,
            "omega": pick(rng, _OMEGAS[1:]),
            "joint": pick(rng, ("independent", "shared")),
        }


def _compression_build(recipe: Recipe, exact: bool) -> Instance:
    n, d = recipe["n"], recipe["d"]
    check_shape(d, n, recipe["omega"])
    family = _compressors(recipe, n, d, exact)
    text = f"n={n}, d={d}, {family.compressor.name}, {recipe['joint']}"
    return Instance(None, CompressionParams(family), (n + 1) * d, lambda theta: (None, _lifted(theta, n, d)), text=text)


def _compressor_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        # From 5 on, index bits to another base differ.
        d = int(pick(rng, (1, 2, 3, 4, 5)))
        yield {"d": d, "k": int(rng.integers(1, d + 1))}


def _compressor_build(recipe: Recipe, exact: bool) -> Instance:
    d, k = recipe["d"], recipe["k"]
    if not 1 <= k <= d:
        raise ValueError("k must be between 1 and d")
    return Instance(None, CompressorParams(d, k), d, lambda theta: (None, theta), text=f"d={d}, k={k}")


#: The constants of the paper that statements without a problem speak of.
_CONSTANTS = {
    str(s): s
    for s in (
        paper.mu,
        paper.L,
        paper.gamma,
        paper.chi,
        paper.rho,
        paper.p,
        paper.omega,
        paper.omega_av,
        paper.rho_other,
    )
}


def _constant_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    scales = (Fraction(1, 10), Fraction(1), Fraction(1), Fraction(7))
    while True:
        values = {name: Fraction(int(rng.integers(1, 13)), 6) * pick(rng, scales) for name in _CONSTANTS}
        L = values["L"]
        values["gamma"] = pick(rng, (Fraction(1), Fraction(3, 2), Fraction(199, 100), Fraction(5, 2))) / L
        values["p"] = pick(rng, (Fraction(1), Fraction(1, 2), Fraction(1, 50), Fraction(2)))
        values["rho"] = pick(rng, (Fraction(1), Fraction(1, 2))) / (1 + values["omega_av"])
        values["chi"] = values["rho"] * pick(rng, (Fraction(1), Fraction(1, 2)))
        yield values


def _constant_build(recipe: Recipe, exact: bool) -> Instance:
    if any(recipe[name] <= 0 for name in _CONSTANTS):
        raise ValueError("the constants must be positive")
    values = {symbol: number(recipe[name], exact) for name, symbol in _CONSTANTS.items()}
    text = ", ".join(f"{name}={recipe[name]}" for name in _CONSTANTS)
    return Instance(None, values, 0, lambda theta: (None, theta), text=text)


FAMILIES = {
    "locodl": Family(_recipes, _build),
    "locodl-quadratic": Family(_quadratic_recipes, _build),
    "locodl-pairwise": Family(_pairwise_recipes, _pairwise_build),
    "locodl-split": Family(_quadratic_recipes, _split_build),
    "locodl-integers": constants_family(
        {paper.n: SIZES, paper.d: SIZES, paper.k: SIZES}, lambda values: bool(values["k"] <= values["d"])
    ),
    "consensus": Family(_consensus_recipes, _consensus_build),
    "compression": Family(_compression_recipes, _compression_build),
    "compressor": Family(_compressor_recipes, _compressor_build),
    "constants": Family(_constant_recipes, _constant_build),
}
