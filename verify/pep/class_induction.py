"""Bounds for every number of rounds, by induction, over a whole class of functions and of inexact oracles.

A bound constant * factor^T * initial is shown through a Lyapunov function gap + A * error, whose weight A >= 0 is a
multiplier of one program among the others. A bound that involves the state after T rounds alone is its own induction
hypothesis. The algorithm's step, the oracle's calls and the statement's quantities run on formal vectors
(:mod:`verify.pep.posing`); every certificate is checked in exact arithmetic.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from numbers import Rational
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound
from fedtheory.numbers.rational import Array, evaluate
from fedtheory.numbers.symbols import T
from fedtheory.problems.base import Problem
from fedtheory.randomness import expectation, map_leaves, support_of
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import rollout
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.pep import posing, programs, rounding
from verify.pep.bounding import Refused, posed_as_claimed
from verify.pep.gram import BasisVector, Form, NotLinear
from verify.pep.interpolation import Formal
from verify.pep.programs import Constraint, Program
from verify.pep.prover import Certified, Prover, Solving, exactly, weakest
from verify.reading import theory

#: The number of guesses at the multipliers of an inequality that is attained.
_GUESSES = 10
#: Relative room given to a constant on the way, where its best value is not found exactly.
_ROOM = Fraction(1, 10**6)

_NOTHING = Form({}, {}, 0)
_THETA = np.zeros((1, 0))


def applies(claim: Claim) -> bool:
    """Return True if bounds in the claim's setting are proved by induction: its Lyapunov functions have two parts."""
    return claim.statement.horizon and bool(claim.setting.hints.lyapunov)


def certify(case: Case, prover: Prover | None = None) -> Certified:
    """Try to certify a bound for every T >= 0 at the parameters of an exact instance that meets its hypotheses.

    It then holds for all functions of the class in all dimensions, and for all oracles as inexact as the hypotheses
    allow. The verdict is ``CERTIFIED`` or ``OPEN``: an induction that fails refutes nothing, and there is no bound from
    below. ``certificate`` proves the step of the induction, an excess of at most 0.

    ``prover``: what proves the steps, a solver by default.

    Raise ``ValueError`` if the claim cannot be posed at these parameters, or a hypothesis fails. Raise ``Refused`` if
    it cannot be certified at any: its statement or setting is not of this kind, the hypotheses allow functions or
    oracles that are not posed, or coordinates are mixed.
    """
    if not applies(case.claim):
        raise Refused(f"{case.claim.id} is not a bound in a setting whose Lyapunov functions are of two parts")
    begun = time.perf_counter()
    try:
        with attributed(case.claim, case.instance.text):
            if posed_as_claimed(case):
                raise Refused(f"the hypotheses of {case.claim.id} allow other functions than those posed")
            parts = _parts(case.statement, case, prover or Solving())
    except NotLinear as error:
        raise ValueError(f"{case.claim.id} is not linear in inner products and function values: {error}") from error
    # Among equally good parts the last one, which is the step.
    worst = weakest(parts[::-1])
    size = max(part.size for part in parts)
    return replace(worst, relaxed=True, size=size, seconds=time.perf_counter() - begun)


@singledispatch
def _parts(statement: Statement, case: Case, prover: Prover) -> list[Certified]:
    """Return the parts of a statement that are proved by induction."""
    raise Refused(f"no induction is known for a statement of kind {statement.kind}")


@_parts.register
def _(statement: Bound, case: Case, prover: Prover) -> list[Certified]:
    if statement.override is None:
        return _through_lyapunov(case, statement, prover)
    return list(_through_itself(case, statement, prover))


# A bound that is its own induction hypothesis


def _through_itself(case: Case, statement: Bound, prover: Prover) -> Iterator[Certified]:
    """left <= right at the start, and after a step with any draw if before it."""
    if statement.right.has(T) or not all(q.after for q in statement.quantities):
        raise ValueError(f"the bound of {case.claim.id} is not about the state after T rounds alone")
    posed = posing.pose(case.setting, case.instance)
    problem, state = _initial(posed)
    yield _proved(prover, "at T = 0", _excess(case.claim, statement, posed, state), posed.constraints(True))
    for k in range(_draws(statement, posed, state)):
        # Posed anew, so that nothing is asked that this draw does not need.
        posed = posing.pose(case.setting, case.instance)
        problem, state = posed.instance.at(_THETA)
        before = _excess(case.claim, statement, posed, state)
        draws, _ = support_of(statement.algorithm.draws(problem, posed.instance.params, state), True)
        one = map_leaves(lambda a, k=k: a[None, k : k + 1], draws)
        later = statement.algorithm.step(problem, posed.instance.params, state, one)
        if not _stays(case.claim, posed, later):
            yield _left()
            return
        after = _excess(case.claim, statement, posed, later)
        yield _proved(
            prover,
            f"draw {k}",
            after,
            [Constraint("hypothesis", before, lambda: "the bound before the step"), *posed.constraints(True)],
        )


def _draws(statement: Bound, posed: Formal, state: Any) -> int:
    _, p = support_of(statement.algorithm.draws(posed.instance.problem, posed.instance.params, state), True)
    return len(p)


def _excess(claim: Claim, statement: Bound, posed: Formal, state: Any) -> Form:
    """left - right, all quantities taken at one state."""
    problem, params = posed.instance.problem, posed.instance.params
    values = dict(claim.setting.bind(problem, params))
    for quantity in statement.quantities:
        values[quantity.expression] = _at(quantity.of, posed, state)
    left, right = (_form(evaluate(side, values)) for side in (statement.left, statement.right))
    return left - right


# A bound through a Lyapunov function


def _through_lyapunov(case: Case, statement: Bound, prover: Prover) -> list[Certified]:
    """V = gap + A error: E V(next) <= factor V, left <= c V, and V(initial) = gap <= c' initial with c c' = constant.

    The first two are one program of two blocks, in which A is the multiplier of a constraint of both.
    """
    if statement.factor.has(T) or statement.constant.has(T):
        raise ValueError(f"the bound of {case.claim.id} is not a constant times factor^T times the initial value")
    values = case.letters
    factor, constant = (evaluate(e, values) for e in (statement.factor, statement.constant))
    if not isinstance(factor, Rational) or not isinstance(constant, Rational):
        raise ValueError(f"the factor or the constant of {case.claim.id} is not rational at these parameters")
    factor, constant = Fraction(factor), Fraction(constant)
    named = {q.expression: q for q in statement.quantities}
    if statement.left not in named or statement.initial not in named:
        raise ValueError(f"a side of {case.claim.id} is not a single quantity")
    if factor < 0:
        raise ValueError(f"the factor of {case.claim.id} is negative at these parameters")
    gap_of, error_of = case.setting.hints.lyapunov
    if not (theory.holds(gap_of) and theory.holds(error_of)):
        raise Refused(f"the parts of the Lyapunov function of {case.claim.id} are not known to be nonnegative")
    start = _start(case, named[statement.initial], prover)
    if start.upper is None:
        return [start]
    c = constant / start.upper
    if c < 0:
        raise ValueError(f"the constant of {case.claim.id} is negative at these parameters")
    posed = posing.pose(case.setting, case.instance)
    problem, state = posed.instance.at(_THETA)
    later, p = rollout(case.with_instance(posed.instance), problem, state, 1)
    if not _stays(case.claim, posed, later):
        return [start, _left()]
    gap, error = (_at(of, posed, state) for of in (gap_of, error_of))
    gap_next, error_next = (_expected(of, posed, later, p) for of in (gap_of, error_of))
    objective, weight = gap_next - factor * gap, factor * error - error_next
    constraints = posed.constraints(True)
    left = named[statement.left].of
    if left is gap_of:
        if c < 1:
            return [start, Certified(None, None, c, Verdict.OPEN, note="at T = 0 the constant is below 1")]
    else:
        reading = posing.pose(case.setting, case.instance)
        _, now = reading.instance.at(_THETA)
        value, gap_now, error_now = (_at(of, reading, now) for of in (left, gap_of, error_of))
        objective, weight = objective + _apart(value - c * gap_now), weight + _apart(c * error_now)
        constraints += [c._replace(name=f"{c.name}, read", form=_apart(c.form)) for c in reading.constraints(True)]
    # Its multiplier is A: factor (gap + A error) - E(gap + A error)(next) >= 0, and c (gap + A error) - left >= 0.
    constraints.append(Constraint("error", weight, lambda: "the error, with the weight that it has in the potential"))
    found = _proved(prover, "gap + A error", objective, constraints)
    if found.certificate is not None:
        A = found.certificate.multipliers.get("error", Fraction(0))
        found = replace(found, note=f"through gap + A error, A = {float(A):.4g}")
    return [start, found]


def _start(case: Case, initial: Quantity, prover: Prover) -> Certified:
    """The largest gap for a given initial quantity; nothing where the first guess has an error."""
    gap_of, error_of = case.setting.hints.lyapunov
    posed = posing.pose(case.setting, case.instance)
    problem, state = _initial(posed)
    if not _at(error_of, posed, state).is_zero:
        note = "the first guess has an error, which no multiple of the initial value bounds"
        return Certified(None, None, Fraction(1), Verdict.OPEN, note=note)
    if initial.of is gap_of:
        return Certified(None, Fraction(1), Fraction(1), Verdict.CERTIFIED)
    gap, right = _at(gap_of, posed, state), _form(initial.of(problem, posed.instance.params, state))
    program = programs.ratio(gap, right, posed.constraints(True))

    def candidates() -> Iterator[Fraction]:
        value = programs.solve(programs.equilibrated(program)).value
        if value is not None and np.isfinite(value):
            best = rounding.simplest(value, 1e-6)
            yield from (best, best * (1 + _ROOM)) if best > 0 else ()

    certificate = prover.prove("gap at the start <= c initial", program, candidates, _GUESSES)
    if certificate is None:
        return Certified(None, None, Fraction(1), Verdict.OPEN, note="the gap at the start is not bounded")
    return Certified(None, certificate.bound, certificate.bound, Verdict.CERTIFIED, certificate)


# Forms


def _initial(posed: Formal) -> tuple[Problem, Any]:
    start = posed.instance.initial
    if start is None:
        raise ValueError("the setting has no initial state")
    problem, state = start(_THETA)
    return problem, state


def _form(value: Any) -> Form:
    return np.asarray(value, dtype=object).ravel()[0] + _NOTHING


def _at(of: Any, posed: Formal, state: Any) -> Form:
    return _form(of(posed.instance.problem, posed.instance.params, state))


def _expected(of: Any, posed: Formal, later: Any, probabilities: Array) -> Form:
    values = np.asarray(of(posed.instance.problem, posed.instance.params, later), dtype=object)
    # Values that do not depend on states have no axes.
    return _form(expectation(np.broadcast_to(values, (1, len(probabilities))), probabilities))


def _stays(claim: Claim, posed: Formal, later: Any) -> bool:
    """Return True if the states after a step are among those posed; without an invariant, all are."""
    invariant = claim.setting.algorithm.invariant  # type: ignore[union-attr]
    if invariant is None:
        return True
    residual = np.asarray(invariant(posed.instance.problem, posed.instance.params, later))
    return not any(v.coefficients for v in residual.flat)


def _left() -> Certified:
    note = "one step leaves the set of states on which the induction is made"
    return Certified(None, None, Fraction(0), Verdict.OPEN, note=note)


def _apart(form: Form) -> Form:
    """The form with rows and values of its own: another state of another problem."""
    entries = {(_renamed(a), _renamed(b)): c for (a, b), c in form.entries.items()}
    return Form(entries, {f"{name}, read": c for name, c in form.values.items()}, form.constant)


def _renamed(row: BasisVector) -> BasisVector:
    return BasisVector(f"{row.block}, read", row.name)


# Programs


def _proved(prover: Prover, name: str, objective: Form, constraints: Iterable[Constraint]) -> Certified:
    """Certify that the objective is at most 0 under the constraints, by exact multipliers; OPEN if none are found."""
    program = Program(objective, _useful(objective, list(constraints)))
    size = max(map(len, program.blocks), default=0)
    certificate = prover.prove(name, program, exactly(Fraction(0)), _GUESSES)
    if certificate is None:
        return Certified(None, None, Fraction(0), Verdict.OPEN, size=size, note=f"{name}: no multipliers were found")
    return Certified(None, Fraction(0), Fraction(0), Verdict.CERTIFIED, certificate, size=size)


def _useful(objective: Form, constraints: list[Constraint]) -> tuple[Constraint, ...]:
    """The constraints without those whose multipliers must vanish.

    The square of a row that only has nonpositive coefficients, and a function value whose coefficients have one sign,
    leave no choice; the multipliers that remain then have room to be rounded.
    """
    while True:
        above: dict[Any, bool] = {}
        below: dict[Any, bool] = {}
        for form in (-objective, *(c.form for c in constraints)):
            for key, v in _signed(form):
                above[key] = above.get(key, False) or v > 0
                below[key] = below.get(key, False) or v < 0
        kept = [
            c
            for c in constraints
            if all(above[k] and (below[k] or isinstance(k, BasisVector)) for k, _ in _signed(c.form))
        ]
        if len(kept) == len(constraints):
            return tuple(kept)
        constraints = kept


def _signed(form: Form) -> Iterator[tuple[BasisVector | str, Any]]:
    """Coefficients of the squares of rows and of the function values."""
    yield from ((a, v) for (a, b), v in form.entries.items() if a == b)
    yield from form.values.items()
