"""Parameters of rivals whose theorems take roots, drawn so that these are rational."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fedtheory import compressors
from fedtheory.algorithms import adiana, gradskip
from fedtheory.compressors import Family
from fedtheory.instances import Recipe, check_shape, generic, members, number, numbers, pick, small
from fedtheory.numbers.rational import square_root
from fedtheory.problems.base import ParamsFunction, Problem

_PROBABILITIES = tuple(Fraction(v) for v in (1, 1, "1/2", "1/10", "1/30"))


def of_params(name: str) -> ParamsFunction:
    """The value of a letter that is a field of the parameters, and is not drawn by itself."""
    return lambda problem, params: getattr(params, name)


# EF21: theta = 1 - sqrt(1 - alpha)


def ef21_stepsize(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """The largest gamma of one of the theorems; rounded down to nine digits: it is irrational unless alpha = 1."""
    alpha, times, slow = recipe["alpha"], pick(rng, (1, 2, 2, 2)), pick(rng, (True, True, True, False))
    mu, L = recipe["mu"], recipe["L"]
    squares = sum(max(members.sizes(c)) ** 2 for c in recipe["clients"]) / len(recipe["clients"])
    theta = 1 - square_root(1 - alpha)
    if alpha == 1:
        gamma = min(1 / L, 1 / (2 * mu)) if slow else 1 / L
    else:
        root = float(times * squares * (1 - alpha)) ** 0.5 / float(theta)
        largest = 1 / (float(L) + root)
        largest = min(largest, float(theta / (2 * mu))) if slow else largest
        digits = 10**9 * 10 ** max(0, -int(np.floor(np.log10(largest))))
        gamma = Fraction(int(largest * digits), digits)
    return {**recipe, "gamma": gamma * pick(rng, (Fraction(1),) * 8 + (Fraction(1, 2), Fraction(2), Fraction(5)))}


# ADIANA: omega = n/(32 q^2), so that p is rational; mu such that theta_1 is.


def _adiana(n: int, q: Fraction, L: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """(omega, p, eta) of the theorem."""
    omega = n / (32 * q**2)
    p = min(Fraction(1), max(Fraction(1), q - 1) / (2 * (1 + omega)))
    return omega, p, min(1 / (2 * L), n / (64 * omega * (2 * p * (omega + 1) + 1) ** 2 * L))


_ADIANA_NAMES = ("alpha", "p", "eta", "theta_1", "theta_2", "gamma", "beta")


def adiana_constants(rng: np.random.Generator, recipe: Recipe) -> Recipe | None:
    """A class and compressors for which the printed constants are rational; now and then one of them is off."""
    n, d = len(recipe["clients"]), recipe["d"]
    q = pick(rng, (generic(rng, Fraction(1, 8), Fraction(1)), generic(rng, Fraction(1), Fraction(10))))
    L = members.scale(rng)
    omega, p, eta = _adiana(n, q, L)
    theta_1 = pick(rng, (Fraction(1, 4), generic(rng, Fraction(1, 40), Fraction(1, 4))))
    mu = pick(rng, (L, theta_1**2 * p / eta, theta_1**2 * p / eta))
    if mu > L or (eta * mu / p != theta_1**2 and eta * mu / p < Fraction(1, 16)):
        return None
    style = members.draw_style(rng, d, n < 3, False)
    clients = tuple(members.draw_client(rng, d, mu, L, style) for _ in range(n))
    off = {"off": pick(rng, _ADIANA_NAMES), "times": pick(rng, (Fraction(4, 9), Fraction(9, 4)))}
    base = {"d": d, "x": small(rng, d), "clients": clients, "mu": mu, "L": L}
    return {**base, "k": 0, "omega": omega, "joint": recipe["joint"], "q": q, **pick(rng, ({},) * 5 + (off,))}


def adiana_parameters(recipe: Recipe, problem: Problem, exact: bool) -> adiana.Params:
    """The printed constants, each from the others; what follows from a constant that is off follows from its value."""
    check_shape(recipe["d"], recipe["q"])
    omega, p, eta = _adiana(problem.n, Fraction(recipe["q"]), Fraction(recipe["L"]))
    if omega != recipe["omega"]:
        raise ValueError("omega must be n/(32 q^2)")

    def off(name: str, value: Fraction) -> Fraction:
        return value * recipe["times"] if recipe.get("off") == name else value

    mu = Fraction(recipe["mu"])
    p, eta = off("p", p), off("eta", eta)
    ratio = eta * mu / p
    theta_1 = square_root(ratio) if ratio < Fraction(1, 16) else Fraction(1, 4)
    if not isinstance(theta_1, Fraction) or not 0 <= p <= 1:
        raise ValueError("theta_1 must be rational, and p a probability")
    theta_1 = off("theta_1", theta_1)
    gamma = off("gamma", eta / (2 * (theta_1 + eta * mu)))
    theta_2, beta = off("theta_2", Fraction(1, 2)), off("beta", 1 - gamma * mu)
    values = (off("alpha", 1 / (1 + omega)), p, eta, theta_1, theta_2, gamma, beta)
    scalars = {name: number(value, exact) for name, value in zip(_ADIANA_NAMES, values, strict=True)}
    one = compressors.bernoulli(recipe["d"], number(recipe["omega"], exact))
    return adiana.Params(**scalars, compressors=Family(one, problem.n, recipe["joint"]))


# GradSkip: q_i from the condition numbers, p = 1/sqrt(kappa_max)


def gradskip_probabilities(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """The printed q_i and p where they are rational, or others; the largest gamma, or one that is off."""
    L_i = [max(members.slopes_of(c)) for c in recipe["clients"]]
    mu, largest, p = recipe["mu"], max(L_i), pick(rng, (*_PROBABILITIES, generic(rng, Fraction(1, 30), Fraction(1))))
    if pick(rng, (True, False)) and largest > mu and isinstance(square_root(mu / largest), Fraction):
        p, q = square_root(mu / largest), [(1 - mu / v) / (1 - mu / largest) for v in L_i]
    else:
        q = [pick(rng, tuple(Fraction(v) for v in (0, "1/2", "9/10", 1))) for _ in L_i]
    bound = min(p**2 / (v * (1 - w * (1 - p**2))) for v, w in zip(L_i, q, strict=True))
    clients = tuple({**c, "q": w} for c, w in zip(recipe["clients"], q, strict=True))
    factor = pick(rng, (Fraction(1),) * 6 + (Fraction(1, 2), Fraction(3, 2)))
    return {**recipe, "clients": clients, "gamma": bound * factor, "p": p}


def gradskip_parameters(recipe: Recipe, problem: Problem, exact: bool) -> gradskip.Params:
    """GradSkip's parameters in a recipe: gamma, p, and the q_i of the clients; ``ValueError`` beyond [0, 1]."""
    q = numbers([c["q"] for c in recipe["clients"]], exact)
    check_shape(recipe["d"], recipe["gamma"], recipe["p"])
    if any(not 0 <= v <= 1 for v in (*q, recipe["p"])):
        raise ValueError("probabilities must be in [0, 1]")
    return gradskip.Params(number(recipe["gamma"], exact), number(recipe["p"], exact), q)


# CompressedScaffnew: (n, d, s), so that entries wrap around the template (s d > n), or leave clients idle (s d < n)

_SHAPES = ((2, 1, 2), (3, 1, 2), (3, 1, 3), (4, 1, 2), (4, 1, 3), (2, 2, 2), (3, 2, 2), (3, 2, 3), (4, 2, 2), (5, 2, 2))


def compressed_shape(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """The recipe with a shape of which all patterns can be enumerated."""
    n, d, s = pick(rng, _SHAPES)
    style = members.draw_style(rng, d, n < 4, True)
    clients = tuple(members.draw_client(rng, d, recipe["mu"], recipe["L"], style) for _ in range(n))
    return {**recipe, "d": d, "x": small(rng, d), "clients": clients, "s": s}
