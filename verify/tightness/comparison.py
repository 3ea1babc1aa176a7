"""One point of a comparison: what a claim prints against its exact worst case, at one choice of the parameters.

What is compared depends on the statement. A contraction, E[potential after] <= factor * potential, is compared by its
*factor*. A bound for every T has the factor by which its potential contracts and, where it involves something else
than the potential, the *constant* before factor^T. An inequality left <= right with one quantity on the right is
compared by its *ratio* left/right, any other one by its *decrease*: right = P - N with positive coefficients, and N is
what is guaranteed of P - left.

Worst cases are those of :func:`verify.pep.worst_case.certify`: over all functions of the class, in all dimensions, and
over all compression errors with the moments allowed. Where none can be posed the worst instance of a search is a bound
from below."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import singledispatch
from math import log
from typing import Any

import mpmath
import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.rational import evaluate
from fedtheory.numbers.symbols import T
from fedtheory.settings.relations import Quantity
from verify.base.along_runs import of_runs
from verify.base.case import Case
from verify.base.evaluate import sides, tree_size
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.comparisons.deciding import finite
from verify.comparisons.exact import parts
from verify.pep import certifying, posing, programs, rounding
from verify.pep.gram import scalar
from verify.pep.prover import Certified, bounds
from verify.pep.worst_case import certify
from verify.search import hunting, refutation, states
from verify.tightness.grids import Choice


@dataclass(frozen=True)
class ComparisonLimits:
    """The worst cases over the class with which a bound is compared, while programs stay small."""

    rounds: tuple[int, ...] = (0, 1, 2, 3)  # after which it is compared
    leaves: int = 9  # of the tree of draws
    rows: int = 16  # of a program


_LIMITS = ComparisonLimits()


class Subject(StrEnum):
    """The number of a claim that is compared."""

    FACTOR = "factor"
    CONSTANT = "constant"
    RATIO = "left/right"
    DECREASE = "guaranteed/actual decrease"


@dataclass(frozen=True)
class Point:
    """One number of a claim at one choice of the parameters, beside its exact worst case in [lower, upper].

    ``printed`` holds if the worst case does not exceed it. An end is None where none was found: above, also where there
    is none (``note`` says so). ``part``: which comparison of a statement with several. ``verdict``: on ``printed``.
    ``proof``: what shows the ends again without a solver, where that is kept.
    """

    subject: Subject
    letters: tuple[tuple[str, Fraction], ...]
    printed: Fraction
    lower: Fraction | None
    upper: Fraction | None
    verdict: Verdict
    part: str = ""
    note: str = ""
    proof: Any = field(default=None, repr=False, compare=False)

    @property
    def where(self) -> str:
        """The letters and their values."""
        if not self.letters:
            return "any parameters"
        return ", ".join(f"{name}={short(value)}" for name, value in self.letters)

    @property
    def slack(self) -> tuple[Fraction | None, Fraction | None]:
        """Bounds of the ratio of the printed bound to the best possible one. Below 1 the printed bound fails.

        For factors rho it is (1 - rho of the worst case)/(1 - rho printed); otherwise printed/worst case.
        """
        return _slack(self, self.upper), _slack(self, self.lower)

    @property
    def iterations(self) -> tuple[float | None, float | None]:
        """The iterations that the printed factor promises, over those of the worst case: at least, at most."""
        return _iterations(self, self.upper), _iterations(self, self.lower)


def short(value: Fraction) -> str:
    """An integer or short fraction as it is, other numbers to six digits."""
    return str(value) if len(str(value)) <= 6 else f"{float(value):.6g}"


def _slack(point: Point, worst: Fraction | None) -> Fraction | None:
    if worst is None:
        return None
    best, printed = (worst, point.printed) if point.subject != Subject.FACTOR else (1 - point.printed, 1 - worst)
    return printed / best if best > 0 else None


def _iterations(point: Point, worst: Fraction | None) -> float | None:
    if point.subject != Subject.FACTOR or worst is None or not (0 < worst < 1 and 0 < point.printed < 1):
        return None
    return log(worst) / log(point.printed)


@np.errstate(all="ignore")
def at_choice(claim: Claim, choice: Choice) -> tuple[Point, ...]:
    """The points of a claim at one choice of parameters."""
    with threadpool_limits(limits=1):
        return tuple(_points(claim.statement, Case(claim, choice.recipes[0]), choice))


@singledispatch
def _points(statement: Statement, case: Case, choice: Choice) -> list[Point]:
    """The points of a statement, for a single comparison one."""
    return [_compared(case, "", choice)]


# One step and one point


@_points.register
def _(statement: Inequality, case: Case, choice: Choice) -> list[Point]:
    """Return the points of both bounds of a two-sided inequality, each by itself."""
    if statement.middle is None:
        return [_compared(case, "", choice)]
    lower = replace(statement, right=statement.middle, middle=None)
    upper = replace(statement, left=statement.middle, middle=None)
    return [
        _compared(case.with_claim(replace(case.claim, statement=part)), f"{name} bound", choice)
        for name, part in (("lower", lower), ("upper", upper))
    ]


def _compared(case: Case, part: str, choice: Choice) -> Point:
    factor = _value(case.statement.factor, case)
    try:
        found = certify(case, tight=True)
    except ValueError as error:
        return _searched(case.claim, part, factor, choice, str(error))
    if factor is not None:
        return _point(Subject.FACTOR, choice, found, factor, part)
    if found.claimed != 0:
        return _point(Subject.RATIO, choice, found, Fraction(1), part)
    if found.lower is None and found.verdict is Verdict.REFUTED:
        # No multiple of the right side holds.
        return Point(Subject.RATIO, choice.letters, Fraction(1), None, None, found.verdict, part, found.note)
    return _decrease(case, part, choice, found)


def _value(expression: sympy.Expr | None, case: Case) -> Fraction | None:
    if expression is None:
        return None
    return _fraction(evaluate(expression, case.letters))


def _ends(expression: sympy.Expr, case: Case) -> tuple[Fraction, Fraction]:
    """Return the rationals between which a value lies; of a float twice what it says, as of a rational."""
    found = Interval.of(evaluate(expression, case.letters))
    return (found.low, found.high) if found.guess is None else (found.middle, found.middle)


def _sure(point: Point, ends: tuple[Fraction, Fraction]) -> Point:
    """Return the point without a verdict that does not hold for all numbers between the ends of what is printed."""
    low, high = ends
    refuted = point.verdict is Verdict.REFUTED and point.lower is not None and point.lower > high
    certified = point.verdict is Verdict.CERTIFIED and point.upper is not None and point.upper <= low
    return point if low == high or refuted or certified else replace(point, verdict=Verdict.OPEN)


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Interval):
        value = value.middle
    return Fraction(mpmath.nstr(value, 30)) if isinstance(value, mpmath.mpf) else Fraction(value)


def _point(subject: Subject, choice: Choice, found: Certified, printed: Fraction, part: str = "") -> Point:
    return Point(subject, choice.letters, printed, found.lower, found.upper, found.verdict, part, found.note)


def _decrease(case: Case, part: str, choice: Choice, found: Certified) -> Point:
    """The largest N given P - left = 1, where right = P - N: without an N, left given P = 1."""
    gained, lost = _signed(case)
    statement: Any = case.statement
    subject, left, right = Subject.DECREASE, lost, gained - statement.left
    if lost == 0:
        subject, left, right = Subject.RATIO, statement.left, gained
    changed = replace(case.claim, statement=replace(statement, left=left, right=right))
    try:
        program, wider = _program(case.with_claim(changed))
        measured = bounds(program, Fraction(1), relaxed=wider)
    except ValueError as error:
        measured = replace(found, lower=None, upper=None, note=str(error))
    return replace(_point(subject, choice, measured, Fraction(1), part), verdict=found.verdict)


def _signed(case: Case) -> tuple[sympy.Expr, sympy.Expr]:
    """(P, N): the right side is P - N, each a sum of quantities with positive coefficients at this instance."""
    right, gained, lost = sympy.expand(case.statement.comparisons[0].right), sympy.S.Zero, sympy.S.Zero
    for quantity in case.statement.quantities:
        coefficient = right.coeff(quantity.expression)
        if (_value(coefficient, case) or 0) > 0:
            gained += coefficient * quantity.expression
        else:
            lost -= coefficient * quantity.expression
    return gained, lost


def _program(case: Case, rounds: int = 1) -> tuple[programs.Program, bool]:
    """Maximise left given right = 1 over the class after some rounds, every point interpolated; and whether that allows
    more than the class.

    Raise ``ValueError`` if the initial state that a bound starts from is not posed, or the program grows too large.
    """
    posed = posing.pose(case.setting, case.instance)
    if case.statement.horizon:
        if posed.instance.initial is None:
            raise ValueError(f"the initial state of {case.claim.id} is not known formally")
        if rounds and tree_size(case, rounds) > _LIMITS.leaves:
            raise ValueError(f"there are more than {_LIMITS.leaves} outcomes after {rounds} rounds")
    left, right = (scalar(side) for side in sides(case.with_instance(posed.instance), np.zeros((1, 0)), rounds)[0])
    return _small(programs.ratio(left, right, posed.constraints(True))), posed.wider


def _small(program: programs.Program) -> programs.Program:
    if max(map(len, program.blocks), default=0) > _LIMITS.rows:
        raise ValueError(f"the program has more than {_LIMITS.rows} rows")
    return program


# Bounds for every T


@_points.register
def _(statement: Bound, case: Case, choice: Choice) -> list[Point]:
    if statement.override is not None or statement.factor.has(T) or statement.constant.has(T) or of_runs(statement):
        return [
            _searched(
                case.claim, "", None, choice, "the bound is not a constant times factor^T times the initial value"
            )
        ]
    factor, constant = (_value(e, case) for e in (statement.factor, statement.constant))
    assert factor is not None and constant is not None
    of_factor, of_constant = (_ends(e, case) for e in (statement.factor, statement.constant))
    contracted, quantity = _contraction(case, statement, of_factor[0])
    step = _sure(_point(Subject.FACTOR, choice, contracted, factor, "one step of its potential"), of_factor)
    named = {q.expression: q.of for q in statement.quantities}
    functions = {named[statement.left], named[statement.initial], quantity.of if quantity else None}
    contracts = contracted.verdict is Verdict.CERTIFIED
    if contracts and len(functions) == 1:
        # T = 0 asks for a constant of at least 1, and a contraction for no more.
        verdict = contracted.verdict if constant >= 1 else Verdict.REFUTED
        at_once = Point(Subject.CONSTANT, choice.letters, constant, Fraction(1), Fraction(1), verdict)
        return [step] if constant == 1 else [step, _sure(at_once, of_constant)]
    above = _through(case, statement, quantity) if contracts and quantity is not None else None
    below = _from_below(case, statement, choice, constant)
    if below is not None and below > constant:
        verdict = Verdict.REFUTED
    elif above is not None and above <= constant:
        verdict = contracted.verdict
    else:
        verdict = _verdict(case)
        above = constant if verdict is Verdict.CERTIFIED else above
    return [step, _sure(Point(Subject.CONSTANT, choice.letters, constant, below, above, verdict), of_constant)]


def _verdict(case: Case) -> Verdict:
    """Compare the claim as a whole, which may have a better proof than one through its potential alone."""
    try:
        found = certifying.certify(case).verdict
    except ValueError:
        return Verdict.OPEN
    return Verdict.OPEN if found is Verdict.REFUTED else found


def _contraction(case: Case, statement: Bound, factor: Fraction) -> tuple[Certified, Quantity | None]:
    """One step of the potential through which the bound is shown, over all states, and that potential."""
    try:
        step, quantity = potential_step(case.claim, factor)
        return certify(case.with_claim(step), tight=True), quantity
    except ValueError as error:
        return Certified(None, None, factor, Verdict.OPEN, note=str(error)), None


def potential_step(claim: Claim, factor: Fraction) -> tuple[Claim, Quantity]:
    """The claim that one step contracts the potential through which a bound is shown, and that potential.

    Raise ``ValueError`` if there is none.
    """
    quantity = posing.potential(claim)
    before = replace(quantity, expression=sympy.Symbol("V"), after=False, domain=None)
    after = replace(quantity, expression=sympy.Symbol("V_next"), after=True)
    number = sympy.Rational(factor.numerator, factor.denominator)
    algorithm = claim.statement.algorithm
    step = OneStep(algorithm, after.expression, number * before.expression, (after, before), number)
    return replace(claim, statement=step), quantity


def _through(case: Case, statement: Bound, potential: Quantity) -> Fraction | None:
    """c c' for left <= c V at every state and V <= c' initial at the initial one, V the potential; None if unknown."""
    named = {q.expression: q for q in statement.quantities}
    V = replace(potential, expression=sympy.Symbol("V"), after=False)
    left, initial = named[statement.left], named[statement.initial]
    total = Fraction(1)
    for a, b, at_start in ((left, V, False), (V, initial, True)):
        if a.of is b.of:
            continue
        try:
            with attributed(case.claim, case.instance.text):
                posed = posing.pose(case.setting, case.instance)
                if at_start and posed.instance.initial is None:
                    return None
                start = posed.instance.initial if at_start and posed.instance.initial else posed.instance.at
                problem, state = start(np.zeros((1, 0)))
                above, below = (scalar(q.of(problem, posed.instance.params, state)) for q in (a, b))
                program = _small(programs.ratio(above, below, posed.constraints(True)))
            value = programs.solve(programs.equilibrated(program)).value
            found = None if value is None else bounds(program, rounding.simplest(value, 1e-6))
        except ValueError:
            return None
        if found is None or found.upper is None:
            return None
        total *= found.upper
    return total


def _from_below(case: Case, statement: Bound, choice: Choice, constant: Fraction) -> Fraction | None:
    """The largest left/(factor^T initial) found: over the class for few rounds, and by search over the recipes."""
    unit = replace(case.claim, statement=replace(statement, constant=sympy.S.One))
    found = []
    for rounds in _LIMITS.rounds:
        try:
            with attributed(case.claim, case.instance.text):
                program, wider = _program(case.with_claim(unit), rounds)
            if wider:
                # The point that it allows may belong to no function of the class.
                break
            program = programs.equilibrated(program)
            point = rounding.lower_bound(program, programs.solve(program))
        except ValueError:
            break
        found += [] if point is None else [point[0]]
    searched = _found(case.claim, choice)
    return max([*found, *([] if searched is None else [constant * searched])], default=None)


# Search


def _searched(claim: Claim, part: str, factor: Fraction | None, choice: Choice, reason: str) -> Point:
    """A point where no program can be posed: the worst of the recipes' instances, and nothing from above."""
    ratio = _found(claim, choice)
    subject, printed = (Subject.RATIO, Fraction(1)) if factor is None else (Subject.FACTOR, factor)
    lower = None if ratio is None else printed * ratio
    verdict = Verdict.REFUTED if lower is not None and lower > printed else Verdict.OPEN
    return Point(subject, choice.letters, printed, lower, None, verdict, part, f"searched only: {reason}")


def _found(claim: Claim, choice: Choice) -> Fraction | None:
    """The largest left/right that is sure, over the worst states of the recipes' instances: of sides that are enclosed
    the least that it can be.
    """
    ratios: list[Fraction] = []
    for recipe in choice.recipes:
        case = Case(claim, recipe)
        findings = states.examine(case, hunting.generator(claim, 0)) or []
        for finding in [f for f in findings if np.isfinite(f.ratio)][:1]:
            point = refutation.nearest(finding.theta)
            for _, left, right, relation, *_ in parts(case.anew(), point, finding.rounds):
                pairs = zip(left, right, strict=True) if relation != "==" else ()
                ratios += (ratio for a, b in pairs if (ratio := _surely(a, b)) is not None)
    return max(ratios, default=None)


def _surely(left: Any, right: Any) -> Fraction | None:
    """Return a lower bound of left/right.

    None where floats take part, of unknown error, or where right may be 0 or less.
    """
    if not (finite(left) and finite(right)):
        return None
    a, b = Interval.of(left), Interval.of(right)
    if a.where or b.where or b.low <= 0:
        return None
    return Fraction(a.low / (b.high if a.low >= 0 else b.low))
