"""Steps that draw one example of all: what holds in the mean is shown for all data, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import sdca
from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedopt.predictors import gamma, lamda, n
from fedtheory.randomness import UniformSubset
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.data import arrays, completing, draws, proving, squares
from verify.data.problem import space_of
from verify.data.space import SUMMED, Factor
from verify.reading.source import Unread
from verify.reading.terms import Axis
from verify.search import hunting

ONE_STEP, GAP = "baseline/sdca/one-step", "baseline/sdca/duality-gap"


@cache
def _drawn(name: str) -> list[Any]:
    claim = claims.get(name)
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    return [instance for _, instance in meeting(claim, islice(recipes, 40))]


def _why(claim: Claim) -> str:
    try:
        return proving.prove(claim, _drawn(claim.id))
    except (Unread, ValueError) as error:
        return str(error)


@pytest.mark.parametrize("name", [ONE_STEP, GAP])
def test_true_claims_are_shown(name: str) -> None:
    assert not _why(claims.get(name))


def _with_right(name: str, change: Callable[[Any], Any], **more: Any) -> str:
    claim = claims.get(name)
    statement = replace(claim.statement, right=change(claim.statement), factor=None, **more)
    return _why(replace(claim, statement=statement))


def test_no_better_rate_is_shown() -> None:
    def better(statement: Any) -> Any:
        return statement.right - lamda * gamma / (10**6 * (1 + lamda * gamma * n)) * _before(statement)

    assert not _with_right(ONE_STEP, lambda statement: statement.right)
    assert _with_right(ONE_STEP, better)
    assert _with_right(
        GAP,
        lambda statement: (
            _before(statement) - (_before(statement) - statement.right) * sympy.Rational(1000001, 1000000)
        ),
    )
    assert _with_right(ONE_STEP, lambda statement: statement.right, strict=True)


def _before(statement: Any) -> Any:
    return next(q.expression for q in statement.quantities if not q.after)


def test_hypotheses_are_needed() -> None:
    for name in (ONE_STEP, GAP):
        claim = claims.get(name)
        assert _why(replace(claim, requires=()))
        longer = Hypothesis("|x_i|^2 <= 2", met=lambda problem, params: problem.f.squared_norms.max() <= 2)
        assert _why(replace(claim, requires=(longer,)))
        total = Hypothesis("a sum", met=lambda problem, params: problem.f.squared_norms.max() >= 1)
        assert _why(replace(claim, requires=(total,)))


def _stepping(times: int, all_at_once: bool = False, forgets_length: bool = False) -> Callable[..., Any]:
    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        f = problem.f
        lengths = f.squared_norms / (f.lam * f.examples)
        rise = f.loss.ascent(
            state.alpha, f.predictions(f.primal(state.alpha)), 0 * lengths if forgets_length else lengths, f.y
        )
        return sdca.State(state.alpha + times * (rise if all_at_once else np.where(draw, rise, 0 * rise)))

    return step


@pytest.mark.parametrize(
    "step", [_stepping(2), _stepping(0), _stepping(-1), _stepping(1, True), _stepping(1, False, True)]
)
def test_other_steps_are_not_shown(step: Callable[..., Any]) -> None:
    claim = claims.get(ONE_STEP)
    statement = replace(claim.statement, algorithm=replace(sdca.algorithm, step=step))
    assert _why(replace(claim, statement=statement))


def test_the_same_step_written_here_is_shown() -> None:
    claim = claims.get(ONE_STEP)
    statement = replace(claim.statement, algorithm=replace(sdca.algorithm, step=_stepping(1)))
    assert not _why(replace(claim, statement=statement))


def _two(problem: Any, params: Any, state: Any) -> Any:
    return UniformSubset(problem.f.examples, 2)


def _of_coordinates(problem: Any, params: Any, state: Any) -> Any:
    return UniformSubset(problem.f.d, 1)


@pytest.mark.parametrize("law", [_two, _of_coordinates])
def test_other_draws_are_not_read(law: Callable[..., Any]) -> None:
    claim = claims.get(ONE_STEP)
    statement = replace(claim.statement, algorithm=replace(sdca.algorithm, draws=law))
    assert _why(replace(claim, statement=statement))


def test_x_star_is_the_minimiser_where_lambda_is_not_zero() -> None:
    claim = claims.get(ONE_STEP)
    zero = Quantity("zero", lambda problem, params, state: 0 * state.alpha.sum(axis=-1))

    def missed(times: Any) -> Quantity:
        def slope(problem: Any, params: Any, state: Any) -> Array:
            f, x = problem.f, problem.x_star
            off = f.full_gradient(times * x)
            return (off**2).sum(axis=-1) + 0 * state.alpha.sum(axis=-1)

        return Quantity("slope", slope)

    at_optimum = Inequality(missed(1).expression, zero.expression, (missed(1), zero))
    assert not _why(replace(claim, statement=at_optimum))
    elsewhere = Inequality(missed(2).expression, zero.expression, (missed(2), zero))
    assert _why(replace(claim, statement=elsewhere))
    # Without lambda, no sign of it is known.
    letters = {letter: source for letter, source in claim.setting.sources.items() if letter != lamda}
    assert _why(replace(claim, setting=replace(claim.setting, letters=letters), statement=at_optimum))


def test_the_mean_of_products_of_the_mask() -> None:
    space = space_of([])
    mask = arrays.as_numbers(draws.OneExample(space).drawn())
    v = arrays.leaf(space, "v", (Axis.EXAMPLES,))
    dot = arrays.total(arrays.multiply(mask, v), [0], False)
    mean = arrays.total(v, [0], False)
    N = arrays.letter(space, 1 / space.count(Axis.EXAMPLES))
    assert draws.expected(dot).of == arrays.multiply(N, mean).of
    squared = arrays.total(arrays.multiply(v, v), [0], False)
    assert draws.expected(arrays.power(dot, 2)).of == arrays.multiply(N, squared).of
    assert draws.expected(arrays.power(dot, 3)).of != arrays.multiply(N, squared).of
    count = arrays.total(mask, [0], False)
    for power in (1, 3):
        assert draws.expected(arrays.power(count, power)).of == arrays.constant(space, 1).of
    # Entry by entry the mean of the mask is 1/N, and no sum is taken.
    assert draws.expected(mask).of == {(): 1 / space.count(Axis.EXAMPLES)}
    with pytest.raises(Unread):
        draws.expected(arrays.opaque(dot, "a function of"))


def _form(a: int, b: int, c: int) -> Any:
    """a u'u + b u'v + c v'v, for u = X'x and v = X'y, formal sums."""
    space = space_of([])
    X = arrays.leaf(space, "M", (Axis.EXAMPLES, Axis.COORDINATES))
    x, y = (arrays.leaf(space, name, (Axis.EXAMPLES,)) for name in "xy")
    u, v = (arrays.total(arrays.multiply(X, arrays.inserted(z, 1)), [0], False) for z in (x, y))
    found = arrays.constant(space, 0)
    for times, one, other in ((a, u, u), (b, u, v), (c, v, v)):
        dot = arrays.total(arrays.multiply(one, other), [0], False)
        found = arrays.add(found, arrays.multiply(arrays.constant(space, times), dot))
    return found


def _is_plain(c: Any, strictly: bool = False) -> bool:
    number = c.as_expr()
    return bool(number.is_positive if strictly else number.is_nonnegative)


@pytest.mark.parametrize(
    ("a", "b", "c", "shown"),
    [
        (1, 2, 1, True),
        (1, -2, 1, True),
        (4, 3, 1, True),
        (1, 3, 2, False),
        (1, 1, 0, False),
        (-1, 0, 1, False),
        (0, 1, 0, False),
    ],
)
def test_squares_are_completed_where_forms_are_not_negative(a: int, b: int, c: int, shown: bool) -> None:
    of = _form(a, b, c)
    known = squares.Knowledge(of.space, _is_plain, lambda number: _is_plain(number, True))
    found = completing.added_up(of, known)
    assert (found is not None) is shown
    if found is not None:
        whole: dict[Any, Any] = {}
        for one in found:
            assert _is_plain(one.times)
            for made, number in one.of.items():
                whole[made] = whole.get(made, 0) + one.times * number
        assert {made: number for made, number in whole.items() if number} == dict(of.of)


def test_sums_of_signs_are_no_weights() -> None:
    space = space_of([])
    arrays.leaf(space, "s", (Axis.EXAMPLES,))
    arrays.leaf(space, "x", (Axis.EXAMPLES,))
    # The sum of s_i x_i^2, of an s of any sign.
    product = (Factor("s", (SUMMED,)), Factor("x", (SUMMED,), 2))
    of = arrays.Array(space, (), {product: space.field.one})
    known = squares.Knowledge(space, _is_plain, lambda number: _is_plain(number, True))
    assert completing.added_up(of, known) is None
