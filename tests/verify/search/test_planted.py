"""False statements that a search has to find, over the kinds of parts of a state and the classes of functions."""

import itertools
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from verify.base.case import Case
from verify.search.hunting import generator, hunt

L, eta = ft.letters("L eta")
Q = ft.Quantity


def _slope(problem: Any, x: Any) -> Any:
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def _norm(v: Any) -> Any:
    return np.sqrt((v**2).sum(axis=-1))


def _normalised(problem: Any, params: Any, state: Any, draw: object) -> dict[str, Any]:
    return {"x": state.x - params.eta * state.m / _norm(state.m)[..., None], "m": state.m}


def _steepness(problem: Any, params: Any, state: Any) -> Any:
    return _norm(_slope(problem, state.x))


def _error(problem: Any, params: Any, state: Any) -> Any:
    return _norm(state.m - _slope(problem, state.x))


def _mirrored(problem: Any, params: Any, state: Any, draw: object) -> dict[str, Any]:
    x = state.x[..., None, :]
    z = problem.h.gradient(x)[..., 0, :] - problem.f.gradient(x).mean(axis=-2) / problem.L
    return {"x": problem.mirror(z)}


def _divergence(problem: Any, params: Any, state: Any) -> Any:
    return problem.divergence(problem.x_star, state.x)


def normalised(kind: str, constant: int) -> ft.Claim:
    """The descent of normalised momentum, true with the constant 2, of a momentum declared as some kind of part."""
    method = ft.method(f"normalised-{kind}", _normalised, ["eta"], {"x": "point", "m": kind})
    right = Q("F", ft.gap) - eta * Q("G", _steepness) + constant * eta * Q("Er", _error) + L * eta**2 / 2
    statement = ft.one_step(method, ft.E(Q("F_next", ft.gap, after=True)) <= right)
    return ft.Claim(
        f"planted/{kind}-{constant}", setting=ft.Setting(algorithm=method, functions=ft.Smooth(L)), statement=statement
    )


def rate(parts: int) -> ft.Claim:
    """F_T <= L D_h / (parts T) of mirror descent, true for parts = 1; false for 4 on kinked functions alone."""
    method = ft.method("mirror", _mirrored, [], {"x": "point"})
    bound = ft.bound(method, ft.E(Q("F_T", ft.gap, after=True)) <= L * Q("D_0", _divergence) / (parts * ft.T), since=1)
    functions = ft.Relative(ft.SmoothConvex(L))
    return ft.Claim(f"planted/rate-{parts}", setting=ft.Setting(algorithm=method, functions=functions), statement=bound)


# A part that is 0 at the fixed point is divided by its norm as one that is x* there is.
@pytest.mark.parametrize("kind", ("point", "momentum"))
def test_states_are_searched_where_a_side_is_undefined_at_the_fixed_point(kind: str) -> None:
    false, true = (normalised(kind, constant) for constant in (1, 2))
    assert hunt(false, generator(false, 0), 40, 1).refutations
    assert not hunt(true, generator(true, 0), 40, 1).refutations


def test_runs_start_anywhere_on_kinked_functions_relative_to_a_kinked_one() -> None:
    claim = rate(4)
    recipes = claim.instances.recipes(generator(claim, 0))
    kinked = (recipe for recipe in recipes if "h_above" in recipe["reference"])
    cases = [Case(claim, recipe) for recipe in itertools.islice(kinked, 4)]
    # The optimum, and the gradients there that do not cancel.
    assert [case.dimension for case in cases] == [case.problem.n * case.problem.d for case in cases]


def test_errors_that_kinked_functions_alone_show_are_found() -> None:
    false, true = rate(4), rate(1)
    assert hunt(false, generator(false, 0), 160, 1).refutations
    assert not hunt(true, generator(true, 0), 40, 1).refutations


def test_a_side_undefined_at_the_fixed_point_alone_is_no_defect() -> None:
    claim = normalised("momentum", 2)
    found = hunt(claim, generator(claim, 0), 8, 1)
    assert found.undefined is None and not found.failed_assertion
