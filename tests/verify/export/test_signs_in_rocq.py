"""Signs that the checker takes from a certificate, each by another of its rules: Rocq takes them as well."""

import json
import shutil

import pytest

from verify import checker
from verify.export import objects, prove, rocq


def _polynomial(*listed):
    return [[str(c), list(powers)] for c, powers in listed]


def _negative(of):
    return [[c.removeprefix("-") if c.startswith("-") else f"-{c}", powers] for c, powers in of]


def _by(of, *steps, power=1, sign=1):
    return {"constant": "1", "factors": [{"of": of, "power": power, "sign": sign, "chart": list(steps)}]}


def _object(name, letters, domain, target, squares, nonzero=()):
    program = {"claimed": name, "target": target, "known": [], "squares": squares}
    of_domain = {key: {"is": of, "sign": ">= 0"} for key, of in domain.items()}
    head = {"format": checker.FORMAT, "kind": "identity", "claim": name, "says": ["said"], "at": {}}
    allowed = {"letters": letters, "domain": of_domain, "point": dict.fromkeys(letters, "1")}
    return objects.sealed({**head, **allowed, "nonzero": list(nonzero), "programs": [program]})


def _number(name, letters, domain, num, den, by=None, nonzero=()):
    """That a quotient is nonnegative."""
    square = {"weight": {"num": num, "den": den}, "vector": {"1": "1"}, **({"by": by} if by else {})}
    return _object(name, letters, domain, {"1|1": {"num": _negative(num), "den": den}}, [square], nonzero)


ONE, ONES, ONLY = (_polynomial((1, (0,) * n)) for n in (3, 2, 1))
X = {"x": "> 0"}

# (1 + q) m >= 1 and x >= m: after the first step, the slack of m is measured in units of 1 + q.
BOUND = _polynomial((1, (0, 1, 0)), (1, (1, 1, 0)), (-1, (0, 0, 0)))
ABOVE = _polynomial((1, (0, 0, 1)), (-1, (0, 1, 0)))
THEN = _polynomial((1, (0, 0, 1)), (1, (1, 0, 1)), (-1, (0, 1, 0)), (-1, (1, 1, 0)), (-1, (0, 0, 0)))
SHOWN = _polynomial((1, (0, 0, 1)), (1, (1, 0, 1)), (-1, (0, 0, 0)))
SLOPE = _number(
    "a slope that is no constant",
    {"q": ">= 0", "m": ">= 0", "x": ">= 0"},
    {"m": BOUND, "x": ABOVE},
    SHOWN,
    ONE,
    _by(SHOWN, ["m", "m", ONE, BOUND], ["x", "x", ONE, THEN]),
)

# x >= m, y >= m and 2m >= 2, so that 3x + 3y >= 6: multiples of both are taken off before m is replaced.
TO_X = _polynomial((1, (1, 0, 0)), (-1, (0, 1, 0)))
TO_Y = _polynomial((1, (0, 0, 1)), (-1, (0, 1, 0)))
TWICE = _polynomial((2, (1, 0, 0)), (-2, (0, 1, 0)))
TWO_M = _polynomial((2, (0, 1, 0)), (-2, (0, 0, 0)))
SUM = _polynomial((3, (1, 0, 0)), (3, (0, 0, 1)), (-6, (0, 0, 0)))
TAKEN = _number(
    "taken off first",
    {"x": ">= 0", "m": ">= 0", "y": ">= 0"},
    {"x": TO_X, "y": TO_Y, "m": TWO_M},
    SUM,
    ONE,
    _by(
        SUM,
        [_polynomial((3, (0, 0, 0))), "x", _polynomial(("1/2", (0, 0, 0))), TWICE, _polynomial((2, (0, 0, 0)))],
        [_polynomial(("3", (0, 0, 0))), "y", _polynomial(("1/2", (0, 0, 0))), [[f"{2 * int(c)}", m] for c, m in TO_Y]],
        ["m", "m", ONE, TWO_M],
    ),
)

# x >= 1: x^3 - 3x^2 + 3x is at least 1 by its coefficients at x = 1 + t, and its factor x^2 - 3x + 3 is not.
FROM_ONE = _polynomial((1, (1,)), (-1, (0,)))
CUBE = _polynomial((1, (3,)), (-3, (2,)), (3, (1,)))
TOGETHER = _number("factors together", X, {"x": FROM_ONE}, CUBE, ONLY, _by(CUBE, ["x", "x", ONLY, FROM_ONE]))

# (x^2 - x + 1)(x + 1) = x^3 + 1, of a numerator and a denominator.
LONG = _polynomial((1, (2,)), (-1, (1,)), (1, (0,)))
SHORT = _polynomial((1, (1,)), (1, (0,)))
WHOLE = _polynomial((1, (3,)), (1, (0,)))
ABOVE_ZERO = [{"of": of, "by": _by(of)} for of in (SHORT, WHOLE)]
QUOTIENT = _number("with its denominator", X, {}, LONG, SHORT, None, ABOVE_ZERO[:1])
REDUCED = _number("not in lowest terms", X, {}, SHORT, WHOLE, None, ABOVE_ZERO[1:])
NEGATIVE = _number(
    "both are negative",
    X,
    {},
    _negative(SHORT),
    _negative(WHOLE),
    _by(_polynomial((1, (4,)), (1, (3,)), (1, (1,)), (1, (0,)))),
    [{"of": _negative(WHOLE), "by": _by(_negative(WHOLE), sign=-1)}],
)

# A number that is 0 at x = 1 is squared.
ZERO = _object(
    "a number that may be 0",
    X,
    {},
    {"1|1": {"num": _polynomial((-1, (2,)), (2, (1,)), (-1, (0,))), "den": ONLY}},
    [{"weight": "1", "vector": {"1": {"num": FROM_ONE, "den": ONLY}}}],
)

SHAPES = [SLOPE, TAKEN, TOGETHER, QUOTIENT, REDUCED, NEGATIVE, ZERO]


@pytest.mark.parametrize("data", SHAPES, ids=lambda data: data["claim"])
def test_the_checker_takes_them(data):
    checker.check(json.dumps(data))


@pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not on the path")
def test_rocq_takes_them(folder):
    (folder / "p_signs.v").write_text(rocq.text(SHAPES), encoding="utf-8")
    answer = prove.compiled(folder / "p_signs.v")
    assert answer.why == "" and answer.theorems == len(SHAPES)
