"""Charts of states: what ``init`` takes it keeps, and what it computes is tied by the invariant altogether or not."""

from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms.parts import zeros
from fedtheory.sampling.chart import _linear_part, plain, rank, skeleton, started, untied

STATE = {"x": "point", "u": "clients"}


def _still(problem, params, state, draw):
    return {"x": state.x, "u": state.u}


def _method(init, invariant=None):
    def begin(problem, params, **parts):
        return made.State(*init(problem, **parts))

    begin.__signature__ = init.__signature__ if hasattr(init, "__signature__") else _signature(init)
    made = ft.method("mine", _still, ["gamma"], STATE, init=begin, invariant=invariant)
    return made


def _signature(init):
    from inspect import Parameter, signature

    first, *rest = signature(init).parameters.values()
    params = Parameter("params", Parameter.POSITIONAL_OR_KEYWORD)
    return signature(init).replace(parameters=[first, params, *rest])


def _whole(problem, x=None, u=None):
    return zeros(problem.d) if x is None else x, zeros(problem.n, problem.d) if u is None else u


def _drops(problem, x=None, u=None):
    return _whole(problem, x)


def _first_client_only(problem, x=None, u=None):
    x, u = _whole(problem, x, u)
    return x, np.concatenate([u[..., :1, :], 0 * u[..., 1:, :]], axis=-2)


def _from_three_clients_on(problem, x=None, u=None):
    return _whole(problem, x, None if problem.n > 2 else u)


def _gradients(problem, x=None):
    x, _ = _whole(problem, x)
    return x, problem.f.gradient(x[..., None, :])


class _Problem:
    n, d = 3, 2


PARTS = {"x": np.ones((1, 1, 2), dtype=int), "u": np.full((1, 1, 3, 2), Fraction(1, 3), dtype=object)}


def test_a_part_that_init_keeps_stands_in_the_state():
    state = started(_method(_whole), _Problem, None, PARTS)
    assert (state.u == PARTS["u"]).all()


@pytest.mark.parametrize("init", [_drops, _first_client_only, _from_three_clients_on])
def test_a_part_that_init_takes_and_drops_is_told(init):
    with pytest.raises(ValueError, match="init of mine takes u, and the state that it makes has another"):
        started(_method(init), _Problem, None, PARTS)


def _sum_of_gradients(problem, params, state):
    return state.u.sum(axis=-2) - problem.f.gradient(state.x[..., None, :]).sum(axis=-2)


def _all_gradients(problem, params, state):
    return state.u - problem.f.gradient(state.x[..., None, :])


def _untied(invariant, n):
    made = _method(_gradients, invariant)
    return untied(made, skeleton(made, n, None, False), n, None, False)


def test_what_init_computes_is_tied_by_the_invariant_altogether_or_not_at_all():
    assert _untied(None, 3) == ["u"]
    assert _untied(_all_gradients, 3) == []
    # Of one client the sum is all there is.
    assert _untied(_sum_of_gradients, 1) == []
    with pytest.raises(ValueError, match="init of mine computes parts of the state that its invariant ties"):
        _untied(_sum_of_gradients, 2)


def _square(problem, params, state):
    return (state.x - state.u.sum(axis=-2)) ** 2


def _two_lines(problem, params, state):
    apart = state.x - state.u.sum(axis=-2)
    return apart * (apart * apart - 4)


def _far_away(problem, params, state):
    return np.where(state.x > 10**9, 0 * state.x, state.x)


def _quotient(problem, params, state):
    return state.x / (1 + state.u.sum(axis=-2))


@pytest.mark.parametrize("invariant", [_square, _two_lines, _far_away, _quotient])
def test_an_invariant_that_is_not_affine_is_told(invariant):
    with pytest.raises(ValueError, match="the invariant of mine is not affine in the state"):
        _untied(invariant, 2)


def test_what_an_invariant_says_is_read_off_its_coefficients():
    def balanced(problem, params, state):
        return (2 * state.u - np.ones(1, dtype=int)).mean(axis=-2) - 3

    made = _method(_gradients, balanced)
    fixed = skeleton(made, 2, None, False).fixed
    found = _linear_part(made, plain(2, False), None, fixed, np.array([1, 3]))
    assert found.tolist() == [[0, 1, 1]]


def test_a_state_that_init_determines_has_no_coordinates():
    made = ft.method("mine", _still, ["gamma"], STATE, init=lambda problem, params: _whole(problem, params))
    about = skeleton(made, 3, None, False)
    assert about.dimension == 0 and about.parts(np.zeros((4, 1, 0, 2), dtype=int)) == {}
    state = made.State(np.ones((4, 5, 2)), np.ones((4, 5, 3, 2)))
    assert about.blocks(state).shape[:3] == (4, 5, 0)


def test_a_rank_is_exact():
    assert rank(np.array([[1, 2], [Fraction(10**30 + 1, 10**30), 2]], dtype=object)) == 2
    assert rank(np.array([[1, 2], [2, 4]])) == 1
