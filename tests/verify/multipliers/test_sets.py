"""Convex sets: what projections, linear minimisation and a diameter give is proved, and no more.

Every attack is false of some set, and only what is not known of sets, or of x*, could let it through.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest
import sympy
from first_found import first_found
from own_step import LITTLE, proves, stated

import fedtheory as ft
from verify import Verdict
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, M, D, gamma, t = ft.letters("mu L M D gamma t")
E, R = ft.E, sympy.Rational
SMOOTH, STRONG = ft.Constrained(ft.SmoothConvex(L)), ft.Constrained(ft.SmoothStronglyConvex(mu, L))
BOUNDED, CONVEX, SETS = ft.Constrained(ft.SmoothConvex(L), D), ft.Constrained(ft.Convex()), ft.ConvexSet()
PAIR = ft.Named((ft.ConvexSet(), ft.ConvexSet()))
FREE, IN, TWO = {"x": "point"}, {"x": "feasible"}, {"x": "point", "y": "point"}


def square(v):
    return (v**2).sum(axis=-1)


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def nearest(problem, x):
    return problem.f.project(x[..., None, :]).mean(axis=-2)


def descent(problem, params, state, draw):
    return {"x": problem.project(state.x - params.gamma * slope(problem, state.x))}


def unprojected(problem, params, state, draw):
    return {"x": state.x - params.gamma * slope(problem, state.x)}


def conditional(problem, params, state, draw):
    return {"x": (1 - params.t) * state.x + params.t * problem.lmo(slope(problem, state.x))}


def away(problem, params, state, draw):
    return {"x": (1 + params.t) * state.x - params.t * problem.lmo(slope(problem, state.x))}


def projected(problem, params, state, draw):
    return {"x": problem.project(state.x)}


def both(problem, params, state, draw):
    return {"x": problem.project(state.x), "y": problem.project(state.y)}


def reflected(problem, params, state, draw):
    return {"x": 2 * problem.project(state.x) - state.x, "y": 2 * problem.project(state.y) - state.y}


def averaged(problem, params, state, draw):
    return {"x": nearest(problem, state.x)}


def alternating(problem, params, state, draw):
    first = problem.f.project(state.x[..., None, :])[..., 0, :]
    return {"x": problem.f.project(first[..., None, :])[..., 1, :]}


def optimum(problem, params):
    return {"x": problem.x_star}


def still(problem, params, state, draw):
    return state._asdict()


def between(problem, params, state):
    return square(state.x - state.y)


def off(problem, params, state):
    return square(state.x - problem.project(state.x))


def off_all(problem, params, state):
    here = state.x[..., None, :]
    return square(problem.f.project(here) - here).sum(axis=-1) / problem.n


def apart(problem, params, state):
    """How far the points of two sets that are nearest to one point are from each other."""
    at = problem.f.project(state.x[..., None, :])
    return square(at[..., 0, :] - at[..., 1, :])


def along(problem, params, state):
    """<grad f(x*), x - x*>."""
    return (problem.y_star.mean(axis=-2) * (state.x - problem.x_star)).sum(axis=-1)


def normal(problem, params, state):
    return square(problem.y_star.mean(axis=-2) + 0 * state.x)


def wide(problem, params, state):
    return square(state.x - problem.lmo(slope(problem, state.x)))


def two_ways(problem, params, state):
    return square(problem.lmo(state.x) + problem.lmo(-state.x) - 2 * problem.x_star)


def gap_of_conditional(problem, params, state):
    g = slope(problem, state.x)
    return (g * (state.x - problem.lmo(g))).sum(axis=-1)


def pair(name, of):
    return ft.Quantity(name, of), ft.Quantity(f"{name}_next", of, after=True)


(X, X_next), (F, F_next), (A, A_next) = pair("X", ft.distance), pair("F", ft.gap), pair("A", between)
OFF, ALL, APART, N = (ft.Quantity(f"O{k}", of) for k, of in enumerate((off, off_all, apart, normal)))
(OFF_next, ALL_next) = (ft.Quantity(f"P{k}", of, after=True) for k, of in enumerate((off, off_all)))
S, W, C, V = (ft.Quantity(f"Q{k}", of) for k, of in enumerate((along, wide, gap_of_conditional, two_ways)))
least = (gamma * (mu + L) <= 2,)


def claim(functions, step, relation, requires=(), state=FREE, **more):
    return stated(functions, step, relation, requires, state, ("gamma", "t"), domain=(t <= 1,), **more)


TRUE = {
    "from outside too": (STRONG, descent, E(X_next) <= (1 - gamma * mu) ** 2 * X, least, FREE),
    "two projections": (SMOOTH, both, E(A_next) <= A, (), TWO),
    "two reflections": (SMOOTH, reflected, E(A_next) <= A, (), TWO),
    "once is enough": (CONVEX, projected, E(OFF_next) <= 0 * X, (), FREE),
    "a point of the set is its projection": (CONVEX, still, OFF <= 0 * X, (), IN),
    "x* is least in the set": (CONVEX, still, 0 * X <= F, (), IN),
    "the gradient at x* leads inwards": (CONVEX, still, 0 * X <= S, (), IN),
    "the gap of conditional gradients": (BOUNDED, still, F <= C, (), IN),
    "the diameter": (BOUNDED, still, W <= D**2, (), IN),
    "a step of conditional gradients": (BOUNDED, conditional, E(F_next) <= (1 - t) * F + t**2 * L * D**2 / 2, (), IN),
    "averaged": (SETS, averaged, E(X_next) <= X - ALL, (), FREE),
    "one after the other": (PAIR, alternating, E(X_next) <= X, (), FREE),
}
FALSE = {
    "outside a value may be less": (SMOOTH, still, 0 * X <= F, (), FREE),
    "outside the gradient at x* may lead anywhere": (CONVEX, still, 0 * X <= S, (), FREE),
    "the gradients balance at x*": (CONVEX, still, N <= 0 * X, (), IN),
    "a gap is no less than that of conditional gradients": (BOUNDED, still, C <= F, (), IN),
    "the diameter of half of the set": (BOUNDED, still, W <= D**2 * R(9, 10), (), IN),
    "outside the diameter says nothing": (BOUNDED, still, W <= D**2, (), FREE),
    "as if the set were symmetric about x*": (BOUNDED, still, V <= 0 * X, (), IN),
    "away from the minimiser": (BOUNDED, away, E(F_next) <= (1 + t) * F + t**2 * L * D**2 / 2, (), FREE),
    "without a projection": (STRONG, unprojected, E(X_next) <= (1 - gamma * mu) ** 2 * X, least, IN),
    "projections contract": (CONVEX, both, E(A_next) <= A * R(9, 10), (), TWO),
    "projections end at x*": (CONVEX, projected, E(X_next) <= 0 * X, (), FREE),
    "the square of a gap at x*": (SMOOTH, still, F <= L / 2 * X, (), IN),
    "the mean of projections is in all sets": (SETS, averaged, E(ALL_next) <= 0 * X, (), FREE),
    "as if the sets were one": (PAIR, still, APART <= 0 * X, (), FREE),
    "one way each is enough": (PAIR, alternating, E(X_next) <= X / 2, (), FREE),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_sets_give_is_proved(name):
    assert proves(claim(*TRUE[name]), STEP)


@pytest.mark.parametrize("name", FALSE)
def test_what_sets_do_not_give_is_refuted(name):
    of = claim(*FALSE[name])
    assert not proves(of)
    assert first_found(of).verdict is Verdict.REFUTED


@pytest.mark.parametrize("step", [unprojected, away, still])
def test_a_step_has_to_keep_a_feasible_part_in_the_set(step):
    found = prove(claim(BOUNDED, step, E(F_next) <= F + gamma * X, (), IN), LITTLE)
    assert ("keep x in the constraint set" in str(found)) is (step is not still)


def test_a_feasible_part_needs_a_constraint():
    with pytest.raises(ValueError, match="no constraint"):
        prove(claim(ft.SmoothConvex(L), still, 0 * X <= F, (), IN), LITTLE)


def test_a_feasible_part_starts_where_the_set_is():
    with pytest.raises(ValueError, match="leave init out"):
        ft.method("m", still, [], IN, init=lambda problem, params: {"x": 0 * problem.x_star})


class State(NamedTuple):
    x: Any


def test_a_statement_is_about_the_states_of_its_setting():
    anywhere = ft.method("m", still, [], State, lambda problem, params, x=None: State(x), None, optimum)
    assert anywhere.feasible == ()
    inside = replace(anywhere, feasible=("x",))
    setting = ft.Setting(algorithm=anywhere, functions=SMOOTH)
    statement = ft.one_step(inside, E(X_next) <= X + F)
    assert "other parts in the constraint set" in prove(ft.Claim("m/o", setting=setting, statement=statement), LITTLE)


def test_that_there_are_sets_is_a_hypothesis():
    for name in ("two projections", "x* is least in the set", "averaged"):
        assert "hypotheses" in prove(claim(*TRUE[name], drawing=ft.Drawing(classes_stated=True)), LITTLE)


def test_a_linear_function_need_not_be_least_in_a_set_without_a_diameter():
    assert isinstance(prove(claim(SMOOTH, conditional, E(F_next) <= F + 1, (), IN), LITTLE), str)
