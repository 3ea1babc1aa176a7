"""Numbers and expressions from text: what ``str`` writes comes back, and nothing is computed that is too large."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import claims
from fedtheory.numbers.rational import evaluate
from fedtheory.numbers.symbols import T
from verify.comparisons.deciding import violated
from verify.evidence import parsing, references

x, y = sympy.symbols("x y", positive=True)
SYMBOLS = {"x": x, "y": y, "|x-y|^2": sympy.Symbol("|x-y|^2"), "x*": sympy.Symbol("x*")}


@pytest.mark.parametrize("claim", claims.all(), ids=lambda claim: claim.id)
def test_every_expression_of_a_claim_comes_back(claim):
    parts = [getattr(claim.statement, name, None) for name in references.STORABLE]
    symbols = {str(s): s for s in references._symbols(claim)}
    for part in (p for p in parts if isinstance(p, sympy.Expr)):
        again = parsing.expression(str(part), symbols)
        letters = sorted(part.free_symbols, key=str)
        values = {s: Fraction(i + 2) for i, s in enumerate(letters)} | ({T: 2} if T in letters else {})
        assert again.free_symbols == part.free_symbols
        # Nothing but the order and the grouping of terms differs.
        try:
            assert again == part or not violated(evaluate(again, values), evaluate(part, values), "==")
        except ValueError as error:
            # A logarithm, or a root of a negative number at these values.
            assert sympy.simplify(again - part) == 0, error


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*x**2/3", 1 + 2 * x**2 / 3),
        ("-x**2", -(x**2)),
        ("x**-2", x**-2),
        ("2**3**2", sympy.Integer(512)),
        ("--x", x),
        ("x - y - 1", x - y - 1),
        ("x/y/2", x / y / 2),
        ("Max(x, Min(y, 1))", sympy.Max(x, sympy.Min(y, 1))),
        ("sqrt(x)*log(y) + ceiling(x/2)", sympy.sqrt(x) * sympy.log(y) + sympy.ceiling(x / 2)),
        ("2*|x-y|^2 - x*", 2 * SYMBOLS["|x-y|^2"] - SYMBOLS["x*"]),
        ("2*x***x", 2 * SYMBOLS["x*"] ** x),
        ("0.5*x", 0.5 * x),
        ("x**0.5", x**0.5),
    ],
)
def test_expressions(text, value):
    assert parsing.expression(text, SYMBOLS) == value


HOSTILE = [
    "",
    "x +",
    "(x",
    "x)",
    "x y",
    "z",
    "xy",
    "x.y",
    "x[0]",
    "f(x)",
    "Max()",
    "sqrt(x, y)",
    "lambda: x",
    "__import__('os').system('true')",
    "x; y",
    "x\n\ny",
    "9**9**9**9",
    "9**(9**9)",
    "(((9**99)**99)**99)",
    "((x**99)**99)**99",
    "2**10000000",
    "2**-10000000",
    "2**1e400",
    "2**(1/1000003)",
    "1e999999999",
    "1e-999999999",
    "9" * 5000,
    "1/0",
    "1/(1 - 1)",
    "0**-1",
    "log(0)",
    "sqrt(-1)",
    "-" * 50_000 + "1",
    "-" * 10_000,
    "(" * 5000 + "1" + ")" * 5000,
    "Max(" * 500 + "1" + ")" * 500,
    "2**" * 5000 + "2",
    "٣",
    "\x00",
    None,
    3,
    [],
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text)[:20])
def test_what_is_no_expression_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError) as caught:
        parsing.expression(text, SYMBOLS)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3/4", Fraction(-3, 4)),
        ("+1e3/2e1", 50),
        ("0.125", Fraction(1, 8)),
        ("-.5e-1", Fraction(-1, 20)),
        ("2.", 2),
        ("1e400", 10**400),
    ],
)
def test_numbers(text, value):
    assert parsing.fraction(text) == parsing.real(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "x", "1/0", "1/2/3", "1_000", " 1", "1 ", "e5", ".", "-", "1e", "1e999999999", "1e-200000", "9" * 5000, "٣",
     "0x10", "1" + "0" * 4000 + "/", "1.5/2", True, None, 0.5, 3, [], {}, "Infinity", "sNaN"],
    ids=lambda text: repr(text)[:20],
)  # fmt: skip
def test_what_is_no_number_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError) as caught:
        parsing.real(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


def test_sides_need_not_be_finite_but_all_else_is():
    assert mpmath.isnan(parsing.real("nan")) and parsing.real("-inf") == -mpmath.inf
    for text in ("nan", "inf", "+inf", "-inf"):
        with pytest.raises(ValueError, match="a number such as"):
            parsing.fraction(text)


@given(st.fractions() | st.builds(lambda a, b, k: Fraction(a * 10**k, b), st.integers(), st.integers(1), st.just(9000)))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_numbers_that_are_written_are_read(value):
    assert parsing.fraction(parsing.written(value)) == value


def test_a_number_too_long_to_be_read_is_not_written():
    with pytest.raises(ValueError, match="cannot be stored"):
        parsing.written(Fraction(3**10_000))


def test_exact_numbers_go_into_files_and_back_whatever_holds_them():
    held = {"gram": ((Fraction(1, 3), Fraction(-2)), ()), "none": None, "one": Fraction(10**400, 7)}
    stored = parsing.texts(held)
    assert stored == {"gram": [["1/3", "-2"], []], "none": None, "one": f"{10**400}/7"}
    assert parsing.exact(json.loads(json.dumps(stored))) == held
    for bad in ("0x10", "1/0", "", "nan", 3, [["1", True]], {"a": 0.5}):
        with pytest.raises(ValueError, match=r"number|divides by zero"):
            parsing.exact(bad)
