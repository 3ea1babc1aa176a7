"""One side of a claim bounded by the other over a whole class: what may be posed, and how it is proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Rational
from typing import Any

import sympy

from fedtheory.numbers.rational import DIGITS, evaluate
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, params_after
from verify.base.verdict import Verdict
from verify.pep import posing, programs, rounding
from verify.pep.gram import Form, NotLinear
from verify.pep.interpolation import Formal
from verify.pep.programs import Constraint, Program
from verify.pep.prover import Certified, Prover, exactly
from verify.reading import theory

#: Rows beyond which the exact program is not tried unasked: seconds at 30.
LARGEST = 30


class Refused(ValueError):
    """A claim that is not certified at any parameters, because of what it says or of what it allows."""


def posed_as_claimed(case: Case, rounds: int | None = None) -> bool:
    """Return True if the hypotheses allow arbitrary functions, beyond the class that is posed.

    ``rounds``: after how many the bound is asked for; every number of them unless given.

    Raise ``ValueError`` if the instance does not meet the hypotheses or its class is not posed; :class:`Refused` where
    other things than those posed are allowed, or the claim's code is not read.
    """
    if rounds is None and case.statement.horizon and case.statement.algorithm.schedules:
        # One step at one round says nothing of the others.
        raise Refused(
            "parameters vary with the round: state what one round does, by one_step(...) for every k; single T are "
            "certified by `fedtheory tight ID --steps K`"
        )
    other = {c.relation for c in case.statement.comparisons} - {"<="}
    if other:
        raise Refused(
            f"{case.claim.id} says {min(other)}: a worst case, which is attained or approached, shows <= alone"
        )
    known = case.setting.hints.known
    if case.statement.horizon and known is not None:
        raise Refused("what is known of the states from which one step is made is not known of those after it")
    if not theory.vouches(case.setting):
        raise Refused(
            "what the setting says is known of all states is its author's word, and no ground of a certificate"
        )
    if not hypotheses_hold(case):
        raise ValueError(f"the instance does not meet the hypotheses of {case.claim.id}")
    # A program that cannot be posed at these parameters may be posed at others.
    posing.pose(case.setting, case.instance)
    try:
        anything = posing.any_functions(case)
        for k in range((rounds or 0) + 1):
            # Code may do otherwise where the parameters are other ones.
            then = params_after(case, case.problem, k) if rounds else case.params
            posing.check_read(case.with_instance(replace(case.instance, params=then)))
    except NotLinear:
        raise
    except ValueError as error:
        raise Refused(str(error)) from error
    return anything


def enclosed(expression: sympy.Expr, values: Mapping[sympy.Expr, Any]) -> tuple[Fraction, Fraction]:
    """Rationals between which the value of an expression lies: the value itself twice, where it is rational.

    The ends of an irrational value are checked by sympy, which evaluates as many digits as a comparison needs.
    Raise ``ValueError`` if the expression has no value.
    """
    value = evaluate(expression, values)
    if isinstance(value, Rational):
        return Fraction(value), Fraction(value)
    ratios = ((key, Fraction(v)) for key, v in values.items() if isinstance(v, Rational))
    exact = sympy.sympify(expression).subs({key: sympy.Rational(v.numerator, v.denominator) for key, v in ratios})
    middle = sympy.Rational(str(sympy.N(exact, DIGITS))) if exact.is_number else None
    if middle is None or not exact.is_real:
        raise ValueError(f"{expression} has no exact value at these parameters")
    room = sympy.Rational(1, 10 ** (DIGITS - 10)) * (1 + abs(middle))
    low, high = middle - room, middle + room
    if not (bool(low <= exact) and bool(exact <= high)):
        raise ValueError(f"{expression} could not be enclosed between rationals at these parameters")
    return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))


def escalated(against: Callable[[bool, bool], Certified], tight: bool) -> Certified:
    """``against(exact, tight)``: all points are interpolated if ``tight``, or to prove a small program."""
    found = against(tight, tight)
    proved = found.verdict is Verdict.CERTIFIED
    return against(True, False) if found.relaxed and not proved and found.size <= LARGEST else found


def left_domain(claimed: Fraction) -> Certified:
    """Return the refutation of a bound on a quantity whose domain a step leaves."""
    return Certified(None, None, claimed, Verdict.REFUTED, note="one step leaves the domain of the left side")


def bounded(
    prover: Prover,
    step: str,
    posed: Formal,
    sides: tuple[Form, Form],
    claimed: Fraction,
    exact: bool,
    tight: bool,
    begun: float,
) -> Certified:
    """The largest left/right against a claimed number that is not 0, or else left - right against 0."""
    left, right = sides
    unasked = 0 if exact else posed.open
    constraints = posed.constraints(exact)
    if claimed != 0 and not programs.scales(left, right, constraints):
        # Only what scales with the state may be looked at where the right side is 1.
        right, claimed = claimed * right, Fraction(0)
    program = programs.ratio(left, right, constraints) if claimed != 0 else programs.excess(left, right, constraints)
    found = prover.bounds(step, program, claimed, claimed == 0, unasked > 0 or posed.wider, tight)
    if claimed != 0 and found.verdict is Verdict.CERTIFIED and not nonnegative(prover, step, right, constraints):
        note = "the right side is not shown to be nonnegative"
        found = replace(found, upper=None, verdict=Verdict.OPEN, note=note)
    return replace(found, size=found.size + unasked, seconds=time.perf_counter() - begun)


def nonnegative(prover: Prover, step: str, form: Form, constraints: Sequence[Constraint]) -> bool:
    """Return True if the form is shown to be nonnegative; a bound on a ratio to it is meaningless otherwise."""
    if form.constant != 0:
        return False
    program = Program(-1 * form, tuple(constraints))
    name = f"{step}: the right side is nonnegative"
    return prover.prove(name, program, exactly(Fraction(0)), rounding.GUESSES) is not None
