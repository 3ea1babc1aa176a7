"""Statements about experiments: what a seed's numbers decide, and stepsizes that are tuned alike."""

import math

import pytest

from fedtheory.experiments import NEVER, Less, Result, Span, Stated, Trend, Within, known, numbers_of, spent, tune


def numbers(**values):
    return {name: value if isinstance(value, Span) else known(value) for name, value in values.items()}


@pytest.mark.parametrize(
    ("a", "b", "strict", "holds"),
    [
        (1, 2, True, True),
        (2, 2, True, False),
        (2, 2, False, True),
        (3, 2, True, False),
        (1, Span(2, math.inf), True, True),
        (3, Span(2, math.inf), True, None),
        (Span(2, math.inf), 1, True, False),
        (Span(2, math.inf), NEVER, True, None),
        (NEVER, NEVER, False, False),
        (5, NEVER, True, True),
        (NEVER, 5, True, False),
        (Span(2, math.inf), Span(3, math.inf), True, None),
    ],
)
def test_less_is_decided_only_where_budgets_allow(a, b, strict, holds):
    assert Less(("a",), ("b",), strict=strict).holds(numbers(a=a, b=b)) is holds


def test_the_best_of_several_is_compared():
    assert Less(("a", "b"), ("c",)).holds(numbers(a=5, b=1, c=2))
    assert Less(("c",), ("a", "b")).holds(numbers(a=5, b=3, c=2))
    # One that stopped early might have been the better one.
    assert Less(("c",), ("a", "b")).holds(numbers(a=5, b=Span(1, math.inf), c=2)) is None
    assert Less(("a",), ("b",), 2.0).holds(numbers(a=3, b=2))


@pytest.mark.parametrize(
    ("values", "rises", "falls"),
    [
        ((1, 2, 3, 4), True, False),
        ((4, 3, 2, 1), False, True),
        ((1, 1, 1, 1), False, False),
        ((1, 3, 2, 4), True, False),
        ((1, 2, Span(3, math.inf), Span(3, math.inf)), True, False),
        ((Span(3, math.inf),) * 4, None, None),
        ((1, Span(9, math.inf), NEVER), None, False),
        ((NEVER, NEVER, NEVER), None, None),
    ],
)
def test_trends_are_rank_correlations(values, rises, falls):
    of = numbers(**{str(i): value for i, value in enumerate(values)})
    along = tuple(of)
    assert Trend(along, 1).holds(of) is rises
    assert Trend(along, -1).holds(of) is falls


def test_levels():
    assert Within("a", 1, 2).holds(numbers(a=2))
    assert Within("a", 1, 2).holds(numbers(a=3)) is False
    assert Within("a", high=2).holds(numbers(a=Span(1, 3))) is None


def test_a_statement_holds_of_a_share_and_leaves_out_what_is_not_measured():
    parts = tuple(Less((name,), ("x",)) for name in "abcd")
    of = numbers(a=1, b=1, c=3, x=2)
    assert len(Stated("s", parts).left(of)) == 3
    assert Stated("s", parts).holds(of) is False
    assert Stated("s", parts, share=0.6).holds(of) is True
    assert Stated("s", parts, share=0.6).holds(of | numbers(b=Span(1, math.inf))) is None
    assert Stated("s", parts).holds(numbers(x=1)) is None
    with pytest.raises(ValueError, match="share"):
        Stated("s", parts, share=0)


def test_grids_are_widened_while_the_best_is_at_an_end_and_equal_for_all():
    assert tune(lambda factor: (math.log2(factor) - 3) ** 2).factor == 8
    assert tune(lambda factor: abs(math.log2(factor))).tried.keys() == {0.5, 1, 2}
    stubborn = tune(lambda factor: factor)
    assert (stubborn.factor, len(stubborn.tried)) == (2**-17, 19)
    assert tune(lambda factor: 0).factor == 1
    assert tune(lambda factor: math.nan if factor > 1 else 1 / factor).factor == 1


def test_costs_that_were_not_reached_are_more_than_was_spent():
    assert spent([3, math.inf], [9, 8]) == (known(3), Span(8, math.inf))
    assert spent([math.inf], 8, diverged=True) == (NEVER,)
    results = [Result({"a": (known(1), known(2))}), Result({"b": (known(3), known(4))})]
    assert numbers_of(results, 1) == numbers(a=2, b=4)
