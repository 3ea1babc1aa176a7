"""Hypotheses that pin constants of the class are solved for them; letters lie beyond the numbers of a claim."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory.numbers.symbols import n
from fedtheory.sampling import pinned
from verify.base.evaluate import meeting

mu, L, gamma, x = ft.letters("mu L gamma x")
BIG = sympy.Integer(10) ** 6


def _step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


GD = ft.method("gradient-descent", _step, ["gamma"], {"x": "point"})
CLASSES = {
    "strongly convex": ft.SmoothStronglyConvex(mu, L),
    "convex": ft.SmoothConvex(L),
    "weakly convex": ft.WeaklyConvex(mu, L),
    "smooth": ft.Smooth(L),
    "Polyak-Lojasiewicz": ft.PolyakLojasiewicz(mu, L),
    "on average": ft.StronglyConvexOnAverage(mu, L),
}


def claim(functions, factor, *requires):
    setting = ft.Setting(algorithm=GD, functions=functions)
    return ft.Claim("own/step", setting=setting, statement=ft.contracts(GD, ft.distance, factor), requires=requires)


def met(of, count=120):
    """Values of the letters at the instances that meet the hypotheses, of so many that are proposed."""
    recipes = islice(of.instances.recipes(np.random.default_rng(0)), count)
    return [of.setting.bind(built.problem, built.params) for _, built in meeting(of, recipes)]


@pytest.mark.parametrize("functions", CLASSES.values(), ids=CLASSES)
def test_a_constant_of_a_class_that_is_pinned_is_met(functions):
    found = met(claim(functions, 1, sympy.Eq(L, 25), gamma * L <= 1))
    assert len(found) > 12 and all(values[L] == 25 for values in found)
    assert len({values[gamma] for values in found}) > 3
    if mu in functions.letters:
        assert len({values[mu] for values in found}) > 3


@pytest.mark.parametrize(
    "requires",
    [
        (sympy.Eq(L, 10 * mu),),
        (sympy.Eq(mu, 1), sympy.Eq(L, 25)),
        (sympy.Eq(gamma, 1 / L), sympy.Eq(L, 25)),
        (sympy.Eq(gamma, BIG), gamma * L <= 1),
        (L >= BIG,),
        (L / mu >= BIG, gamma * L <= 1),
    ],
    ids=str,
)
def test_relations_among_constants_of_the_class_are_solved_for(requires):
    assert len(met(claim(CLASSES["strongly convex"], 1, *requires))) > 12


@pytest.mark.parametrize(
    "requires",
    [(L <= sympy.Rational(9, 4),), (L + mu <= sympy.Rational(21, 10),), (L <= 3 * mu, gamma * L <= 1)],
    ids=str,
)
def test_bounds_on_constants_of_the_class_alone_are_attained(requires):
    found = met(claim(CLASSES["strongly convex"], 1, *requires))
    assert any(requires[0].lhs.subs(values) == requires[0].rhs.subs(values) for values in found)


@pytest.mark.parametrize(
    ("factor", "beyond"),
    [
        (1 - sympy.Max(0, L - BIG), lambda values: values[L] > BIG),
        (1 - sympy.Max(0, L / mu - BIG), lambda values: values[L] / values[mu] > BIG),
        (1 - sympy.Max(0, 1 / BIG - gamma), lambda values: values[gamma] < 1 / Fraction(10**6)),
    ],
)
def test_letters_lie_beyond_the_numbers_that_stand_in_a_claim(factor, beyond):
    of = claim(CLASSES["strongly convex"], factor, gamma * L <= 1)
    assert sum(map(beyond, met(of, 200))) >= 3


def test_numbers_of_clients_lie_beyond_those_that_stand_in_a_claim():
    of = claim(CLASSES["strongly convex"], 1 - sympy.Max(0, n - 20))
    assert pinned.crowds(of) == (21,) and any(values[n] == 21 for values in met(of))
    assert not pinned.crowds(claim(CLASSES["strongly convex"], 1 - sympy.Max(0, L - 20)))


@pytest.mark.parametrize(
    ("weight", "size"),
    [
        (sympy.Min(1, 1000 / sympy.sqrt(L)), 10**6),
        (sympy.Min(1, 20 / sympy.log(L + 2)), sympy.exp(20)),
        (1 - sympy.Max(0, sympy.log(2 * sympy.sqrt(L) + 1) - 9), sympy.exp(18) / 4),
        (sympy.Min(1, sympy.exp(L / 100) / sympy.exp(3)), 300),
    ],
)
def test_thresholds_are_read_through_roots_logarithms_and_exponentials(weight, size):
    sizes = pinned.thresholds(claim(CLASSES["strongly convex"], (1 - gamma * mu) * weight))
    assert any(abs(float(each / size) - 1) < 0.001 for each in map(sympy.Rational, sizes))


def test_exponents_are_no_thresholds():
    assert pinned.thresholds(claim(CLASSES["strongly convex"], (1 - gamma * mu) ** 300 / 2)) == ()
    assert pinned.thresholds(claim(CLASSES["strongly convex"], 1 - mu / 1000)) == (1000,)


@pytest.mark.parametrize("redundant", [(), (gamma <= 1,)], ids=["alone", "with a bound"])
def test_a_constant_that_is_tied_to_a_square_of_a_letter_is_met_beyond_the_bound(redundant):
    # Drawn after the functions, gamma meets it by coincidence only, as gamma = 1 where mu = L.
    found = met(claim(CLASSES["strongly convex"], 1, sympy.Eq(mu, gamma**2 * L), *redundant))
    assert len({values[gamma] for values in found}) > 6
