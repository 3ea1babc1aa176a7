"""Starts and fixed points that a method's parts declare are read, and are those that the code computes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from read_steps import READ, fitting

import fedtheory as ft
import verify
from fedtheory import algorithms
from fedtheory.algorithms.parts import Start
from fedtheory.numbers.rational import exact
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal
from verify.reading import comparing, program
from verify.reading.source import Unread

DECLARED = [name for name in READ if type(algorithms.get(name).init) is Start]


def test_most_methods_declare_their_starts():
    assert {"diana", "ef21", "adiana", "scaffold", "saga", "svrg", "loopless-svrg"} <= set(DECLARED)


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_start_is_read_as_the_code_computes_it(name):
    """From nothing, and from each of the parts that may be given."""
    algorithm = algorithms.get(name)
    problem, params, state = next((p, q, s) for p, q, s in fitting(name) if p.n != p.d)
    for free in ((), *((part,) for part in algorithm.init.free), algorithm.init.free):
        found = program.state_at_start(algorithm, problem, params, free)
        begun = algorithm.init(problem, params, **{part: getattr(state, part) for part in free})
        for part, term in found.items():
            value = np.broadcast_to(comparing.evaluated(term, problem, params, state), np.shape(getattr(begun, part)))
            there = getattr(begun, part)
            assert (value == there).all() if there.dtype == object else np.allclose(value.astype(float), there)


def mine(state, step=None):
    """A method with these parts that stays where it is."""
    return ft.method("mine", step or (lambda problem, params, state, draw: state._asdict()), ["gamma"], state)


MEAN = {"x": "point", "h": "clients", "h_bar": "mean of h"}


@pytest.fixture
def problem():
    return Problem(diagonal(exact(np.arange(1, 13).reshape(3, 4)), exact(np.arange(12).reshape(3, 4))))


def test_parts_start_and_rest_as_they_are_declared(problem):
    method = mine(
        {
            "x": "point",
            "w": "point from x",
            "phi": "models from x",
            "g": "gradients from x",
            "h_bar": "mean of g",
        }
    )
    x, params = exact(np.arange(4)), method.Params(gamma=1)
    begun, rest = method.init(problem, params, x), method.fixed_point(problem, params)
    slopes = problem.f.gradient(x[None, :])
    assert begun.w is x and (begun.phi == x).all() and begun.phi.shape == (3, 4)
    assert (begun.g == slopes).all() and (begun.h_bar == slopes.sum(axis=0) / 3).all()
    assert (rest.w == problem.x_star).all() and (rest.phi == problem.x_star).all() and (rest.g == problem.y_star).all()
    assert (rest.h_bar == problem.y_star.sum(axis=0) / 3).all()
    for state in (begun, rest):
        assert (method.invariant(problem, params, state) == 0).all()
    assert (method.invariant(problem, params, begun._replace(h_bar=x)) != 0).any()
    given = method.init(problem, params, x=x, g=0 * slopes)
    assert (given.g == 0).all() and (given.h_bar == 0).all()
    with pytest.raises(TypeError, match="h_bar"):
        method.init(problem, params, h_bar=x)


def test_zeros_have_the_mean_zero_in_whole_numbers(problem):
    """Neither floats, which fractions would turn into floats, nor fractions, which floats would into objects."""
    begun = mine(MEAN).init(problem, None)
    assert begun.h_bar.dtype.kind == "i" and not begun.h_bar.any()
    given = mine(MEAN).init(problem, None, h=exact(np.ones((3, 4), dtype=int)))
    assert given.h_bar.dtype == object and (given.h_bar == 1).all()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"x": "point", "h_bar": "mean of h"}, "h_bar .* is the mean of h, which is not one of clients"),
        ({"x": "point", "h_bar": "mean of x"}, "the mean of x, which is not one of clients"),
        ({**MEAN, "more": "mean of h"}, "only one part of the state may be a mean"),
        ({"w": "point from x", "x": "point"}, "w of the state starts from x, which is not a point declared before"),
        ({"x": "clients", "w": "models from x"}, "starts from x, which is not a point"),
        ({"x": "point", "w": "point from w"}, "starts from w, which is not a point"),
        ({"x": "point", "w": "clients from x"}, "must be one of point, .* got 'clients from x'"),
        ({"x": "point from "}, "must be one of point"),
        ({"x": "point", "h": "clients", "h_bar": "mean from h"}, "must be one of point"),
        ({"x": "mean"}, "must be one of point"),
        ({"x": 3}, "must be one of point, .* got 3"),
        ({"x": "point", "w": "mean of y from x"}, "the mean of y from x, which is not"),
    ],
)
def test_what_is_declared_otherwise_is_refused(state, message):
    with pytest.raises(ValueError, match=message):
        mine(state)


def test_a_mean_that_a_step_does_not_keep_breaks_the_invariant(tmp_path):
    """The declaration is an assertion of the author's, and no proof may rest on it where it fails."""

    def step(problem, params, state, draw):
        gradient = problem.f.gradient(state.x[..., None, :])
        return {"x": state.x - params.gamma * state.h_bar, "h": gradient, "h_bar": 2 * gradient.mean(axis=-2)}

    mu, L, gamma = ft.letters("mu L gamma")
    D = ft.Quantity("D", ft.distance)
    setting = ft.Setting(algorithm=mine(MEAN, step), functions=ft.SmoothStronglyConvex(mu, L))
    kept = ft.one_step(setting.algorithm, ft.E(ft.Quantity("D_next", ft.distance, after=True)) <= D)
    claim = ft.Claim("own/mean", statement=kept, setting=setting, requires=(gamma * L <= 1,))
    found = verify.check(claim)
    assert str(found.verdict) not in ("proved", "certified", "supported")


CALLING = """
from fedtheory.algorithms import diana

def step(problem, params, state, draw):
    return {'x': state.x, 'h': state.h}

def away(problem, params, state):
    begun = diana.algorithm.init(problem, params, h=state.h)
    return ((begun.h_bar - problem.x_star) ** 2).sum(axis=-1)

def other(problem, params, state):
    return (diana.algorithm.init(problem, params, h_bar=state.x).h_bar ** 2).sum(axis=-1)
"""


def test_code_that_calls_a_declared_start_is_read(tmp_path, problem):
    path = tmp_path / "calling.py"
    path.write_text(CALLING)
    names = {"__name__": "calling_of_mine", "__file__": str(path)}
    exec(compile(CALLING, str(path), "exec", dont_inherit=True), names)
    method = ft.method("mine", names["step"], ["gamma"], {"x": "point", "h": "clients"})
    params, state = method.Params(Fraction(1, 2)), method.init(problem, None, h=exact(np.arange(12).reshape(3, 4)))
    (term,) = program.quantities(names["away"], method, problem, params)
    assert comparing.evaluated(term, problem, params, state) == names["away"](problem, params, state)
    with pytest.raises(Unread):
        program.quantities(names["other"], method, problem, params)


def test_a_start_with_functions_of_the_authors_is_no_declared_one(problem):
    """It is read by its own code, and certificates take it for code of the author's."""
    method = mine({"x": "point"})
    assert program.starts_as_declared(method.init, method.State)
    own = replace(method.init, starts=(("x", lambda problem, given, begun: 2 * problem.x_star),))
    assert not program.starts_as_declared(own, method.State)
    (term,) = program.state_at_start(replace(method, init=own), problem, method.Params(1), ()).values()
    assert (comparing.evaluated(term, problem, method.Params(1), None) == 2 * problem.x_star).all()
