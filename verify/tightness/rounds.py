"""A bound after T rounds, for each T by itself: the worst case of whole runs over the class, between exact ends.

One program for each T has all points of a run and the interpolation conditions of the class between every two of them
(Drori and Teboulle 2014; Taylor, Hendrickx and Glineur 2017). From above its dual is checked in fractions; from below
there is a run, replayed in fractions on a function of the class. What is shown at these T says nothing of the others.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from fedtheory.claims import Claim
from fedtheory.numbers.symbols import T
from verify.base.case import Case
from verify.base.evaluate import params_after, rollout, sides, tree_size
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.comparisons.deciding import may_agree
from verify.pep import posing, programs, rounding
from verify.pep.bounding import bounded, enclosed, nonnegative, posed_as_claimed
from verify.pep.gram import Form, NotLinear, scalar
from verify.pep.interpolation import Formal
from verify.pep.programs import Certificate, Program
from verify.pep.prover import DoesNotHold, ProofStep, Prover, Solving, Stored, stored
from verify.tightness import tabulated
from verify.tightness.comparison import Point, Subject, short
from verify.tightness.grids import Choice

#: The name of the step that is proved.
_STEP = "T"
#: Leaves of the tree of draws at most.
_LEAVES = 16
#: Rows of a program at most, those of twenty rounds of one client: at 17 it takes half a minute, at 29 many.
_ROWS = 22
#: The largest number of characters of a fraction that is printed exactly.
_LONG = 16
#: The largest distance from the solver's value at which a simple fraction is tried as the worst case itself.
_NEAR = (1e-8, 1e-7, 1e-6)
#: Faces that are guessed at where the worst case may be the bound itself.
_GUESSES = 3
#: The most rows of a program for which more is tried there: beyond, it takes minutes.
_SMALL = 8
#: The most rows for which so many guesses are made, likewise.
_MIDDLE = 14


class _Sides(NamedTuple):
    """left <= c right after some rounds, forms of a formal instance, where ``claimed`` <= c <= ``above``; ``of``: what
    the right side is in words, "" where it is the whole of it."""

    claim: Claim
    posed: Formal
    left: Form
    right: Form
    claimed: Fraction
    above: Fraction
    of: str


class Proof(NamedTuple):
    """A proof of a worst case that needs no solver: multipliers for the upper bound, and a run for the lower bound."""

    steps: Mapping[str, ProofStep]
    run: tabulated.At | None


@np.errstate(all="ignore")
def after_rounds(claim: Claim, choice: Choice, rounds: int, known: Proof | None = None) -> tuple[Point, ...]:
    """The worst case of a bound after so many rounds at one choice of the parameters, beside what is stated.

    Where the right side is a multiple of one quantity it is that multiple, otherwise left/right. ``known``: nothing is
    looked for, and all that it has is checked: ``DoesNotHold`` where it is not shown again.
    """
    letters = (("T", Fraction(rounds)), *choice.letters)
    with threadpool_limits(limits=1):
        case = Case(claim, choice.recipes[0])
        text = case.instance.text
        try:
            with attributed(claim, text):
                taken = _taken(case, rounds)
                found = _worst(taken, rounds) if known is None else _again(taken, rounds, known)
        except DoesNotHold as error:
            raise DoesNotHold(f"after {rounds} rounds: {error}") from error
        except (ValueError, NotLinear) as error:
            if known is not None:
                raise DoesNotHold(f"after {rounds} rounds: {error}") from error
            nothing = (Fraction(1), None, None, Verdict.OPEN)
            return (Point(Subject.RATIO, letters, *nothing, "after T rounds", str(error)),)
    subject = Subject.CONSTANT if taken.of else Subject.RATIO
    part = f"of {taken.of} after T rounds" if taken.of else "after T rounds"
    ends = (found.lower, found.upper, found.verdict)
    return (Point(subject, letters, taken.claimed, *ends, part, found.note, found.proof),)


def _taken(case: Case, rounds: int) -> _Sides:
    """Both sides after the rounds, on formal vectors. Raise ``ValueError`` if they cannot be posed."""
    claim, statement = case.claim, case.statement
    if posed_as_claimed(case, rounds):
        raise ValueError(f"the hypotheses of {claim.id} allow other functions than those posed")
    if rounds and tree_size(case, rounds) > _LEAVES:
        raise ValueError(f"there are more than {_LEAVES} outcomes after {rounds} rounds")
    named = [q for q in statement.quantities if statement.right.has(q.expression)]
    coefficient = statement.right / named[0].expression if len(named) == 1 else None
    claimed, above, of = Fraction(1), Fraction(1), ""
    if coefficient is not None and not named[0].after and not coefficient.has(named[0].expression):
        values = {**case.letters, T: rounds}
        (claimed, above), of = enclosed(coefficient, values), str(named[0].expression)
        claim = replace(claim, statement=replace(statement, override=named[0].expression))
    posed = posing.pose(claim.setting, case.instance)
    if claim.setting.adversaries and rounds > 1:
        raise ValueError("compressors and noise are posed for one step at a time")
    letters, formal = (claim.setting.bind(of.problem, of.params) for of in (case.instance, posed.instance))
    occurring = statement.right.free_symbols & set(letters)
    if not may_agree(*({s: values[s] for s in occurring} for values in (letters, formal))):
        raise ValueError(f"the right side of {claim.id} mentions the dimension, and the program is of all of them")
    if posed.instance.initial is None:
        raise ValueError(f"the initial state of {claim.id} is not known formally")
    after = Case.of(claim, posed.instance)
    if _leaves(after, rounds):
        raise ValueError("a run leaves the domain of a quantity")
    left, right = (scalar(side) for side in sides(after, np.zeros((1, 0)), rounds)[0])
    return _Sides(claim, posed, left, right, claimed, above, of)


def _leaves(case: Case, rounds: int) -> bool:
    """Return True if a quantity is not finite before or after the rounds, from the initial states of a
    formal instance.
    """
    problem, state = case.start(np.zeros((1, 0)))
    later, _ = rollout(case, problem, state, rounds)
    then = params_after(case, problem, rounds)
    now = params_after(case, problem, 0)
    residuals = (
        q.domain(problem, *((then, later) if q.after else (now, state)))
        for q in case.statement.quantities
        if q.domain is not None
    )
    return any(getattr(v, "coefficients", v) for residual in residuals for v in np.asarray(residual).flat)


class _WorstCase(NamedTuple):
    """The worst case between exact ends, the verdict on what is claimed, a note (by what the lower is attained), and
    what shows all this again."""

    lower: Fraction | None
    upper: Fraction | None
    verdict: Verdict
    note: str
    proof: Proof | None = None


def _worst(taken: _Sides, rounds: int) -> _WorstCase:
    program, prover, run = _posed(taken), Solving(), None
    if program is None:
        found = _difference(taken, prover)
    else:
        posed = programs.equilibrated(program)
        solution = programs.solve(posed)
        run = tabulated.replay(taken.claim, taken.posed, posed, solution, rounds)
        lower = None if run is None else run.left / run.right
        upper = None if solution.value is None else _least(program, posed, solution.value, lower, taken.claimed)
        if upper is not None:
            prover.steps[_STEP] = stored(upper)
        found = _between(taken, prover, run, upper, f"the solver says {solution.status}")
    proved = found.upper is not None or found.verdict is Verdict.CERTIFIED
    if not proved and run is None:
        return found
    return found._replace(proof=Proof(prover.steps if proved else {}, None if run is None else run.at))


def _again(taken: _Sides, rounds: int, known: Proof) -> _WorstCase:
    """As :func:`_worst`, by what is known alone."""
    program, prover = _posed(taken), Stored(known.steps)
    if program is None:
        found = _difference(taken, prover)
    else:
        upper = prover.prove(_STEP, program, lambda: ())
        run = None if known.run is None else tabulated.rerun(taken.claim, taken.posed, known.run, rounds)
        found = _between(taken, prover, run, upper, "")
    if set(prover.used) != set(known.steps):
        raise DoesNotHold("there are steps that are no part of the proof")
    if known.run is not None and found.lower is None:
        raise DoesNotHold("the stored run is not one on a function of the class")
    return found._replace(proof=known)


def _posed(taken: _Sides) -> Program | None:
    """The program whose value is the worst case; None where there is none, but left <= right may be shown."""
    constraints, ends = taken.posed.constraints(True), (taken.left, taken.right)
    if taken.claimed == 0 or not programs.scales(*ends, constraints):
        return None
    program = programs.ratio(*ends, constraints)
    if max(map(len, program.blocks), default=0) > _ROWS:
        raise ValueError(f"the program has more than {_ROWS} rows")
    return program


def _difference(taken: _Sides, prover: Prover) -> _WorstCase:
    """No multiple of the right side; where 0 is claimed, left <= 0."""
    if taken.claimed != taken.above:
        raise ValueError("an irrational multiple of what has a constant is not posed")
    ends = (taken.left, taken.right if taken.claimed else Form({}, {}, 0))
    found = bounded(prover, _STEP, taken.posed, ends, taken.claimed, True, False, time.perf_counter())
    # A lower bound on a difference is not a share of the right side.
    verdict = Verdict.OPEN if found.verdict is Verdict.REFUTED else found.verdict
    return _WorstCase(None, None, verdict, found.note)


def _between(
    taken: _Sides, prover: Prover, run: tabulated.Replayed | None, above: Certificate | None, otherwise: str
) -> _WorstCase:
    """The verdict by both ends; ``otherwise``: the note where there is no run."""
    lower = None if run is None else run.left / run.right
    d = 0 if run is None else run.at.d
    note = f"a run in {d} dimension{'s' if d > 1 else ''}, replayed in fractions" if d else otherwise
    upper = None if above is None else above.bound
    if upper is not None and not nonnegative(prover, _STEP, taken.right, taken.posed.constraints(True)):
        upper, note = None, "the right side is not shown to be nonnegative"
    verdict: Verdict = Verdict.OPEN
    if upper is not None and upper <= taken.claimed:
        verdict = Verdict.CERTIFIED
    elif lower is not None and lower > taken.above:
        # A worst case that no run attains would refute nothing.
        verdict = Verdict.REFUTED
    return _WorstCase(lower, upper, verdict, note)


def _least(
    program: Program, posed: Program, value: float, lower: Fraction | None, claimed: Fraction
) -> Certificate | None:
    """A proof of the least bound that is found: what a run attains, a simple fraction, what is claimed, or another."""
    variants, near = (posed, program), max(_NEAR) * abs(value)
    attained = abs(float(claimed) - value) <= near
    # One of so small a denominator is not near by chance.
    simple = [short for tol in _NEAR if (short := rounding.simplest(value, tol)).denominator ** 2 * tol < 1]
    rows = max(map(len, program.blocks))
    for guess in dict.fromkeys([lower, *([claimed] if attained else simple)]):
        if guess is None or abs(float(guess) - value) > near or guess < (lower or 0):
            continue
        if (
            rows <= _SMALL
            and attained
            and guess <= claimed
            and (proof := rounding.prove_otherwise(program, posed, guess))
        ):
            return proof
        if proof := rounding.prove(program, guess, variants, _GUESSES if rows <= _MIDDLE else 1):
            return proof
    above = rounding.upper_bound(program, value, variants)
    if above is not None and (above.bound <= claimed or claimed < value):
        return above
    if claimed > value + near and (proof := rounding.prove(program, claimed, variants, 1)):
        return proof
    return above


# In words


def words(points: Sequence[Point]) -> list[str]:
    """Return sentences on the exact values, as fractions, of points after several numbers of rounds, and on what they
    leave open.
    """
    of_rounds = [point for point in points if point.letters and point.letters[0][0] == "T"]
    if not of_rounds:
        return []
    lines = []
    for where, found in groupby(sorted(of_rounds, key=_others), key=_others):
        exact = [p for p in found if p.lower is not None and p.lower == p.upper]
        if exact:
            values = ", ".join(f"{_rounds(p)}: {_fraction(p.lower or Fraction(0))}" for p in exact)
            at = ", ".join(f"{name}={short(value)}" for name, value in where)
            lines.append(f"exact worst case{f' at {at}' if at else ''}, by T: {values}{_law(exact)}")
    failing = {_rounds(p) for p in of_rounds if p.verdict is not Verdict.CERTIFIED}
    held = sorted({_rounds(p) for p in of_rounds} - failing)
    if held:
        lines.append(f"certified at T = {', '.join(map(str, held))}, each by itself, which shows nothing of other T")
    return lines


def _fraction(value: Fraction) -> str:
    return str(value) if len(str(value)) <= _LONG else short(value)


def _others(point: Point) -> tuple[tuple[str, Fraction], ...]:
    return point.letters[1:]


def _rounds(point: Point) -> int:
    return int(point.letters[0][1])


def _law(points: Sequence[Point]) -> str:
    """A polynomial of low degree in T whose reciprocal all these worst cases are, in words; "" where there is none."""
    inverse = [
        (sympy.Integer(_rounds(p)), 1 / sympy.Rational(*(p.lower or Fraction(0)).as_integer_ratio()))
        for p in points
        if p.lower
    ]
    for degree in (1, 2):
        if len(inverse) >= degree + 3:
            found = sympy.interpolate(inverse[: degree + 1], T)
            if all(found.subs(T, k) == value for k, value in inverse):
                return f"; that is 1/({sympy.factor(found)}) at each of these"
    return ""
