"""``certify``: the worst case of a claim over the whole class of functions, at the parameters of an instance."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.rational import DIGITS, evaluate
from fedtheory.statements import Bound, Comparison, Inequality, OneStep
from verify.evaluate import hypotheses_hold, leaving, sides
from verify.evidence import Verdict
from verify.faults import attributed
from verify.pep import posing, programs, rounding
from verify.pep.functions import Formal
from verify.pep.gram import Form, NotLinear
from verify.pep.programs import Constraint, Program
from verify.pep.prover import Certified, Prover, Solving, exactly, weakest
from verify.pep.runs import scalar

#: Rows beyond which the exact program is not tried unasked: seconds at 30.
LARGEST = 30


class Refused(ValueError):
    """A claim that is not certified at any parameters, because of what it says or of what it allows."""


def certify(claim: Claim, instance: Instance, tight: bool = False, prover: Prover | None = None) -> Certified:
    """The worst case of a claim over its class, at the parameters of an exact instance that meets its hypotheses.

    The functions and the state of the instance do not matter, only its class, its number of clients and its
    parameters; what is found holds in every dimension. The claim's own algorithm and quantities are run on formal
    vectors, and must treat all coordinates alike. Of several comparisons the worst is returned. Function values after
    the step are first bounded by smoothness alone (a smaller program, whose optimum is an upper bound); with ``tight``,
    or when that does not prove the claim and the program is small, every point is interpolated, and the interval is
    that of the class itself. ``prover``: what proves the steps, a solver unless told otherwise.

    ``ValueError`` when the statement, its setting or its quantities cannot be posed at these parameters, or a
    hypothesis fails; :class:`Refused` when the claim cannot be certified at any parameters.
    """
    statement = claim.statement
    if not isinstance(statement, OneStep | Bound | Inequality):
        raise Refused(f"no worst case over a class is known for a statement of kind {statement.kind}")
    if getattr(statement, "strict", False):
        raise Refused(f"{claim.id} is strict: a worst case is attained, or approached")
    prover = prover or Solving()
    # Chains are made of comparisons, as they are here.
    from verify.pep import chains

    try:
        with attributed(claim, instance.text):
            anything = posed_as_claimed(claim, instance)
            if isinstance(statement, Bound):
                if anything:
                    raise Refused(f"the hypotheses of {claim.id} allow other functions than those posed")
                parts = chains.parts(claim, statement, instance, tight, prover)
            else:
                comparisons = enumerate(statement.comparisons)
                parts = [_compare(claim, instance, k, c, anything, tight, prover) for k, c in comparisons]
    except NotLinear as error:
        raise ValueError(f"{claim.id} is not linear in inner products and function values: {error}") from error
    size, seconds = max(part.size for part in parts), sum(part.seconds for part in parts)
    return replace(weakest(parts), relaxed=any(part.relaxed for part in parts), size=size, seconds=seconds)


def posed_as_claimed(claim: Claim, instance: Instance) -> bool:
    """Whether the hypotheses allow functions beyond the class that is posed, of which nothing is then known.

    ``ValueError`` when the instance does not meet the hypotheses or its class is not posed; :class:`Refused` where
    other things than those posed are allowed, or the claim's code mixes coordinates.
    """
    if isinstance(claim.statement, Bound) and claim.statement.algorithm.schedules:
        # One step at one round says nothing of the others.
        raise Refused("parameters vary with the round: state what one round does, by one_step(...) for every k")
    if not hypotheses_hold(claim, instance):
        raise ValueError(f"the instance does not meet the hypotheses of {claim.id}")
    # On formal vectors with one entry: what fails there fails at these parameters.
    posing.check_coordinates(claim, instance, ())
    try:
        anything = posing.any_functions(claim, instance)
        posing.check_coordinates(claim, instance)
    except NotLinear:
        raise
    except ValueError as error:
        raise Refused(str(error)) from error
    return anything


def enclosed(expression: sympy.Expr, values: Mapping[sympy.Expr, Any]) -> tuple[Fraction, Fraction]:
    """Rationals between which the value of an expression lies: the value itself twice, where it is rational.

    The ends of an irrational value are checked by sympy, which evaluates as many digits as a comparison needs.
    ``ValueError`` if the expression has no value.
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


def _compare(
    claim: Claim, instance: Instance, index: int, comparison: Comparison, anything: bool, tight: bool, prover: Prover
) -> Certified:
    """One comparison left <= right of a statement about one step or one point, ``anything``: for any functions."""
    factor, above = _factor(claim, instance, comparison)
    if factor is not None and factor != above:
        # An irrational multiple of a potential: the side itself is no form, and what is shown is a little more.
        assert isinstance(claim.statement, OneStep) and claim.statement.factor is not None
        potential = claim.statement.right / claim.statement.factor
        claim = replace(claim, statement=replace(claim.statement, right=potential, factor=None))
    scale = factor if factor == above else 1

    def against(exact: bool, tight: bool) -> Certified:
        begun = time.perf_counter()
        posed = posing.pose(claim.setting, instance, anything)
        theta = np.zeros((1, 0))
        escaped = leaving(claim, posed.instance, theta)
        if escaped is not None and any(v.coefficients for v in escaped.flat):
            return left_domain(Fraction(0))
        left, right = (scalar(side) for side in sides(claim, posed.instance, theta)[index])
        step = f"comparison {index + 1}{', every point interpolated' if exact else ''}"
        if factor is not None and factor > 0:
            return bounded(prover, step, posed, (left, right / scale), factor, exact, tight, begun)
        return bounded(prover, step, posed, (left, right), Fraction(0), exact, tight, begun)

    found = escalated(against, tight)
    undecided = above is not None and found.lower is not None and found.lower <= above
    return replace(found, verdict=Verdict.OPEN) if undecided and found.verdict is Verdict.REFUTED else found


def left_domain(claimed: Fraction) -> Certified:
    """What is said of a quantity that a step takes out of its domain."""
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
    program = programs.ratio(left, right, constraints) if claimed != 0 else programs.excess(left, right, constraints)
    found = prover.bounds(step, program, claimed, claimed == 0, unasked > 0 or posed.wider, tight)
    if claimed != 0 and found.verdict is Verdict.CERTIFIED and not _nonnegative(prover, step, right, constraints):
        note = "the right side is not shown to be nonnegative"
        found = replace(found, upper=None, verdict=Verdict.OPEN, note=note)
    return replace(found, size=found.size + unasked, seconds=time.perf_counter() - begun)


def _nonnegative(prover: Prover, step: str, form: Form, constraints: Sequence[Constraint]) -> bool:
    """Whether the form is shown to be nonnegative, without which a bound on a ratio to it says nothing."""
    if form.constant != 0:
        return False
    program = Program(-1 * form, tuple(constraints))
    name = f"{step}: the right side is nonnegative"
    return prover.prove(name, program, exactly(Fraction(0)), rounding.GUESSES) is not None


def _factor(claim: Claim, instance: Instance, comparison: Comparison) -> tuple[Fraction | None, Fraction | None]:
    """Rationals around the number by which the right side multiplies a potential: the factor, or 1 for a multiple of
    one quantity."""
    statement = claim.statement
    assert isinstance(statement, OneStep | Inequality)
    if isinstance(statement, OneStep) and statement.factor is not None:
        return enclosed(statement.factor, claim.setting.bind(instance.problem, instance.params))
    named = {q.expression for q in statement.quantities}
    parts = sympy.Mul.make_args(comparison.right)
    quantities = [e for e in parts if e in named]
    rest = sympy.Mul(*(e for e in parts if e not in named))
    alone = len(quantities) == 1 and not any(rest.has(e) for e in named)
    return (Fraction(1), Fraction(1)) if alone else (None, None)
