"""What a repair changes stands in braces: whole terms with their signs, denominators, and words without punctuation."""

from __future__ import annotations

import pytest
import sympy

from verify.report import statement

a, b, c = sympy.symbols("a b c", positive=True)


def marked(of, other):
    return str(statement.shown(statement.expression(statement.expressions(of, other)[0])))


@pytest.mark.parametrize(
    ("of", "other", "expected"),
    [
        (1 - a / b, 1 - 8 * a / b, "1 - a/b"),
        (1 - 8 * a / b, 1 - a / b, "1 - a*{8}/b"),
        (c / a**2, c / a, "c/{a^2}"),
        (c - 29 * a, c + 29 * a, "c + {-29*a}"),
        (c + 29 * a, c - 29 * a, "c + {29*a}"),
    ],
)
def test_signs_and_denominators_are_marked_whole(of, other, expected):
    assert marked(of, other) == expected


@pytest.mark.parametrize(
    ("line", "other", "expected"),
    [
        ("x is 0, idle ones reset; y is 1", "x is exact; y is 1", "x is {0, idle ones reset}; y is 1"),
        ("tested at 1, 4, 10", "tested at 1, 4, 10, 100", "tested at 1, 4, 10"),
        ("tested at 1, 4, 10, 100", "tested at 1, 4, 10", "tested at 1, 4, 10{, 100}"),
        ("mean of all y, after T rounds", "mean of all y", "mean of all y{, after T rounds}"),
    ],
)
def test_punctuation_is_not_part_of_a_changed_word(line, other, expected):
    assert str(statement.shown(statement.against(line, [other]))) == expected
