"""What is decided beyond doubt, in which arithmetic, and what is left open."""

from fractions import Fraction

import mpmath
import pytest
import sympy

import fedtheory as ft
from fedtheory.claims import Claim
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.intervals import DIGITS, Interval, Undecided, precision
from fedtheory.numbers.rational import evaluate, holds
from fedtheory.settings import Setting
from verify import Verdict, check
from verify.base.case import Case
from verify.comparisons.deciding import arithmetic, certainly, is_open, violated
from verify.search.refutation import refute

mu, L, gamma = ft.letters("mu L gamma")
a, b = sympy.symbols("a b", positive=True)
HALF, TENTH = sympy.Rational(1, 2), sympy.Rational(1, 10)
NESTED = sympy.sqrt(a + b + 2 * sympy.sqrt(a * b))
NUMBERS = Setting("numbers")


def at(expression, **values):
    return evaluate(expression, {sympy.Symbol(name, positive=True): Fraction(v) for name, v in values.items()})


def descends(factor, size):
    """That gradient descent with ``size`` times gamma for a stepsize, a float that is no literal, contracts so."""

    def step(problem, params, state, draw):
        slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
        return {"x": state.x - size * params.gamma * slope}

    method = ft.method("scaled", step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    return Claim(
        "scaled", setting=setting, statement=ft.contracts(method, ft.distance, factor), requires=(gamma * L <= 1,)
    )


@pytest.mark.parametrize("relation", ["==", "<=", "<"])
@pytest.mark.parametrize("left", [sympy.sqrt(a) + sympy.sqrt(b), (sympy.sqrt(a) + 10**40) - 10**40 + sympy.sqrt(b)])
def test_roots_that_cancel_contradict_nothing(left, relation):
    one, two = at(left, a=2, b=3), at(NESTED, a=2, b=3)
    assert is_open(one, two, relation) and not violated(one, two, relation)
    statement = Inequality(left, NESTED, (), strict=relation == "<")
    claim = Claim("roots", setting=NUMBERS, statement=Identity(left, NESTED, ()) if relation == "==" else statement)
    assert refute(Case(claim, {"a": Fraction(2), "b": Fraction(3)}), (), 1) is None


@pytest.mark.parametrize("off", [Fraction(1, 10**30), Fraction(1, 10**60), Fraction(1, 10**300)])
def test_a_difference_in_whatever_digit_is_seen(off):
    wrong = NESTED + sympy.Rational(off.numerator, off.denominator)
    claim = Claim("roots", setting=NUMBERS, statement=Identity(sympy.sqrt(a) + sympy.sqrt(b), wrong, ()))
    found = refute(Case(claim, {"a": Fraction(2), "b": Fraction(3)}), (), 1)
    assert violated(*found.replay(), "==") and "by intervals" in arithmetic(found.left, found.right)


def test_an_identity_of_roots_is_proved_and_does_not_fail():
    identity = Claim("roots", setting=NUMBERS, statement=Identity(sympy.sqrt(a) + sympy.sqrt(b), NESTED, ()))
    assert check(identity).verdict is Verdict.PROVED
    fails = Claim("roots/fails", setting=NUMBERS, statement=Fails(identity.statement, "it"))
    assert check(fails).verdict is Verdict.NOT_TESTED


def test_hypotheses_are_met_where_that_is_sure():
    values = {a: Fraction(2), b: Fraction(3)}
    assert holds(sympy.sqrt(a) + sympy.sqrt(b) <= NESTED + sympy.Rational(1, 10**90), values)
    assert not holds(sympy.sqrt(a) + sympy.sqrt(b) <= NESTED - sympy.Rational(1, 10**90), values)
    assert not holds(sympy.sqrt(a) + sympy.sqrt(b) <= NESTED, values)


def test_more_digits_are_taken_until_there_is_no_doubt():
    asked = []

    def root():
        asked.append(Interval.of(2).sqrt())
        return asked[-1]

    with mpmath.workdps(80):
        near = Fraction(*mpmath.libmp.to_rational(mpmath.sqrt(2)._mpf_))
    found = certainly(root, lambda found: is_open(found, near, "=="))
    assert violated(found, near, "==") and found.high - found.low < Fraction(1, 10**99)
    with pytest.raises(Undecided):
        certainly(lambda: root() ** 2 == 2, lambda found: False)


def test_precision_is_that_of_the_block():
    with precision(2 * DIGITS):
        narrow = Interval.of(2).sqrt()
    assert narrow.high - narrow.low < Fraction(1, 10 ** (2 * DIGITS - 1)) < Interval.of(2).sqrt().high - narrow.low


def test_floats_are_never_called_exact_and_contradict_nothing():
    read = Interval.of(0.1)
    for value in (read, 0.1, read * 0 + 0.1, 10**20 * read, 1 / read, read.sqrt()):
        assert not violated(value, Fraction(1, 9), "==") and not violated(value, Fraction(-1), "<=")
        assert not is_open(value, Fraction(1, 10), "==")
    assert float(read) == 0.1 and float(read * 2) == 0.2
    assert arithmetic(Fraction(1, 10), Fraction(1)) == "in fractions"
    for value in (read, 0.1):
        assert "not in fractions" in arithmetic(value, Fraction(1))
    assert "half are relied on" in arithmetic(mpmath.mpf(1), Fraction(1))


def test_a_claim_about_floats_is_supported_at_most_and_told_so():
    # The true one, and one that the floats contradict: what is given to a factory is not read.
    for factor in ((1 - gamma * mu / 10) ** 2, (1 - gamma * mu / 5) ** 2):
        found = check(descends(factor, 0.1))
        assert found.verdict is Verdict.SUPPORTED
        assert "not exact: floats take part in step (test_deciding.py" in found.note
    failing = Fails(found.claim.statement, "it")
    fails = Claim("fails", setting=found.claim.setting, statement=failing, requires=found.claim.requires)
    assert check(fails).verdict is not Verdict.PROVED


@pytest.mark.parametrize("base", [Fraction(999, 1000), Fraction(-7, 5), Fraction(1, 3), Fraction(-1, 9)])
@pytest.mark.parametrize("power", [1, 2, 63, 1001, 4096])
def test_high_powers_are_enclosed(base, power):
    found = Interval(base, base) ** power
    assert found.low <= base**power <= found.high
    assert found.high - found.low <= abs(base**power) / 10**40
