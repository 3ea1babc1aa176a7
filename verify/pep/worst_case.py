"""``certify``: the worst case of a claim over the whole class of functions, at the parameters of an instance."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import T
from fedtheory.randomness import expectation
from fedtheory.settings.relations import Comparison, Quantity
from verify.base.case import Case
from verify.base.evaluate import leaving, rollout, sides
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.pep import posing, programs, rounding
from verify.pep.bounding import Refused, bounded, enclosed, escalated, left_domain, posed_as_claimed
from verify.pep.gram import BasisVector, Form, NotLinear, scalar
from verify.pep.interpolation import Formal
from verify.pep.programs import Constraint, Program
from verify.pep.prover import Certified, Prover, Solving, exactly, weakest

# Bounds for every T: chains of links through potentials that contract at every step, from every state that can be
# reached. A chain that fails refutes nothing, unless the potential is the left side itself.


class _At(NamedTuple):
    """A claim at an exact instance that meets its hypotheses, and what proves the steps."""

    case: Case
    prover: Prover


class _FormalRun(NamedTuple):
    """A formal instance, a state, the states some rounds later and their probabilities."""

    posed: Formal
    state: Any
    later: Any
    probabilities: Array

    def before(self, quantity: Quantity) -> Form:
        """The quantity at the state."""
        return scalar(quantity.of(self.posed.instance.problem, self.posed.instance.params, self.state))

    def after(self, quantity: Quantity) -> Form:
        """Its expectation some rounds later."""
        values = quantity.of(self.posed.instance.problem, self.posed.instance.params, self.later)
        return scalar(expectation(values, self.probabilities))

    def leaves(self, quantity: Quantity) -> bool:
        """Return True if a state some rounds later is outside the quantity's domain."""
        if quantity.domain is None:
            return False
        residual = quantity.domain(self.posed.instance.problem, self.posed.instance.params, self.later)
        return any(v.coefficients for v in np.asarray(residual).flat)


def parts(case: Case, statement: Bound, tight: bool, prover: Prover) -> list[Certified]:
    """Return the parts of a bound for every T >= 0; it holds if every part is certified.

    An irrational factor or constant is replaced by a rational just below it, which shows a little more.
    """
    if statement.override is not None or statement.factor.has(T) or statement.constant.has(T):
        raise Refused(f"the bound of {case.claim.id} is not a constant times factor^T times the initial value")
    values = case.letters
    factor, constant = (enclosed(e, values)[0] for e in (statement.factor, statement.constant))
    named = {q.expression: q for q in statement.quantities}
    if statement.left not in named or statement.initial not in named:
        raise Refused(f"a side of {case.claim.id} is not a single quantity")
    left, initial = named[statement.left], named[statement.initial]
    if left.of is initial.of and constant < 1:
        # T = 0 asks for a constant of at least 1.
        return [Certified(Fraction(1), Fraction(1), constant, Verdict.REFUTED, note="at T = 0")]
    at = _At(case, prover)
    quantities = (left, initial, posing.potential(case.claim), *case.setting.hints.basis)
    # A bound by a multiple of a number implies the bound by a larger multiple only if that number is nonnegative.
    empty = factor == 0 and constant != 1 and left.of is initial.of
    if factor < 0 or empty or not _scale(at, quantities):
        raise Refused(
            f"the bound of {case.claim.id} has a negative factor, or mentions what does not scale with the state"
        )
    if not posing.closed(case):
        if _run(at, 1).leaves(left):
            return [left_domain(factor)]
        return [Certified(None, None, factor, Verdict.OPEN, note="one step leaves the states that are posed")]

    found = _through_potential(at, (left, initial), factor, constant, tight)
    if not _settled(found):
        others = _after_two(at, (left, initial), factor, constant)
        found = others if _settled(others) else found
    return found


def _scale(at: _At, quantities: Iterable[Quantity]) -> bool:
    """Return True if quantities have no constant part."""
    taken = _run(at, 0)
    return all(taken.before(quantity).constant == 0 for quantity in quantities)


def _settled(parts: Sequence[Certified]) -> bool:
    return bool(parts) and all(part.verdict is Verdict.CERTIFIED for part in parts)


def _through_potential(
    at: _At, ends: tuple[Quantity, Quantity], factor: Fraction, constant: Fraction, tight: bool
) -> list[Certified]:
    """left <= c V, E V(next) <= factor V, V(initial) <= c' initial for the setting's V; then the constant is c c'.

    Where V is one of many and the bound involves two quantities, the chain begins after one round: E V(first) <=
    factor c' initial, which asks for less, and the bound holds by itself at T = 0.
    """
    left, initial = ends
    potential = posing.potential(at.case.claim)
    contraction = _link(at, potential, potential, factor, tight, rounds=1)
    if left.of is not potential.of:
        contraction = _refuting_nothing(contraction)
    if contraction.verdict is not Verdict.CERTIFIED or left.of is initial.of is potential.of:
        return [contraction]
    c = _largest(at, left, potential)
    if c.upper is None or c.upper <= 0:
        # A left side that is never positive may still exceed a right side of unknown sign.
        return [contraction, replace(c, verdict=Verdict.OPEN, note="a left side that is not positive")]
    late = left.of is not initial.of and bool(at.case.setting.hints.basis) and factor > 0
    scale = c.upper / factor if late else c.upper
    found = _link(at, potential, initial, constant / scale, tight, rounds=int(late), initial=True)
    upper = None if found.upper is None else scale * found.upper
    found = replace(_refuting_nothing(found), lower=None, upper=upper, claimed=constant)
    found = replace(found, note="the constant, through the potential")
    return [contraction, found, *(_at_once(at, ends, constant) if late else ())]


def _at_once(at: _At, ends: tuple[Quantity, Quantity], constant: Fraction) -> list[Certified]:
    """The bound at T = 0, where it involves two quantities."""
    left, initial = ends
    return [] if left.of is initial.of else [_link(at, left, initial, constant, initial=True)]


def _refuting_nothing(part: Certified) -> Certified:
    return replace(part, verdict=Verdict.OPEN) if part.verdict is Verdict.REFUTED else part


def _run(at: _At, rounds: int, initial: bool = False) -> _FormalRun:
    """Some rounds from any state, or from the initial ones."""
    posed = posing.pose(at.case.setting, at.case.instance)
    start = posed.instance.initial if initial and posed.instance.initial is not None else posed.instance.at
    problem, state = start(np.zeros((1, 0)))
    return _FormalRun(posed, state, *rollout(at.case.with_instance(posed.instance), problem, state, rounds))


def _link(
    at: _At,
    a: Quantity,
    b: Quantity,
    claimed: Fraction,
    tight: bool = False,
    rounds: int = 0,
    initial: bool = False,
) -> Certified:
    """Certify that E[a] some rounds later is at most ``claimed`` b, from every state or from the initial ones."""
    after = f"E[{_name(a)}] after {rounds} round{'s' if rounds != 1 else ''}" if rounds else _name(a)
    name = f"{after} <= c {_name(b)}{', at the start' if initial else ''}"

    def against(exact: bool, tight: bool) -> Certified:
        begun = time.perf_counter()
        step = f"{name}{', every point interpolated' if exact else ''}"
        taken = _run(at, rounds, initial)
        if taken.leaves(a):
            return left_domain(claimed)
        # With a factor of 0 it is a <= 0 that is claimed, rather than a bound on a ratio.
        right = taken.before(b) if claimed else Form({}, {}, 0)
        return bounded(at.prover, step, taken.posed, (taken.after(a), right), claimed, exact, tight, begun)

    # A first round has many points and little to gain from their gradients.
    return against(tight, tight) if rounds and initial else escalated(against, tight)


def _largest(at: _At, a: Quantity, b: Quantity) -> Certified:
    """The largest a given b = 1 over all states; a simple rational where that is provable."""
    if a.of is b.of:
        return Certified(Fraction(1), Fraction(1), Fraction(1), Verdict.CERTIFIED)
    taken = _run(at, 0)
    program = programs.ratio(taken.before(a), taken.before(b), taken.posed.constraints(True))

    def candidates() -> Iterator[Fraction]:
        value = programs.solve(programs.equilibrated(program)).value
        if value is not None:
            yield rounding.simplest(value, 1e-6)
            yield from rounding.just_above(value)

    proof = at.prover.prove(f"{_name(a)} <= c {_name(b)}, the least c", program, candidates, rounding.GUESSES)
    if proof is None:
        return Certified(None, None, Fraction(1), Verdict.OPEN, note="no multiple of the potential bounds it")
    return Certified(None, proof.bound, proof.bound, Verdict.CERTIFIED, proof)


def _name(quantity: Quantity) -> str:
    return str(quantity.expression)


def _after_two(at: _At, ends: tuple[Quantity, Quantity], factor: Fraction, constant: Fraction) -> list[Certified]:
    """The bound at T = 0 and T = 1 by itself, and from T = 2 on through potentials U and V composed of a basis.

    left <= V, E V(next) <= factor V, E V(next) <= factor U, E U(first) <= factor constant initial: with weights of U
    and V as multipliers this is one program of four blocks. Empty if the setting has no basis.
    """
    left, initial = ends
    basis = at.case.setting.hints.basis
    if not basis or factor <= 0:
        return []
    begun = time.perf_counter()
    c = _largest(at, left, basis[0])
    if c.upper is None or c.upper <= 0:
        return []
    at_once = _at_once(at, ends, constant)
    once = _link(at, basis[0], initial, factor * constant / c.upper, rounds=1, initial=True)
    if any(part.verdict is not Verdict.CERTIFIED for part in (*at_once, once)):
        return []
    read, step, first = _run(at, 0), _run(at, 1), _run(at, 1, initial=True)
    if any(taken.leaves(quantity) for taken in (step, first) for quantity in basis):
        return []
    objective = _apart(read.before(left), "read") - _apart(factor * constant * first.before(initial), "first")
    weights = []
    for k, quantity in enumerate(basis):
        now, then = step.before(quantity), step.after(quantity)
        of_V = _apart(read.before(quantity), "read") + _apart(factor * now - then, "step") - _apart(then, "second")
        of_U = _apart(factor * now, "second") - _apart(first.after(quantity), "first")
        weights += [
            Constraint(f"{name}_{k}", form, partial("part {} of the potential {}, with its weight".format, k + 1, name))
            for name, form in (("V", of_V), ("U", of_U))
        ]
    blocks = (("read", read), ("step", step), ("second", step), ("first", first))
    classes = [
        known._replace(name=f"{known.name}: {where}", form=_apart(known.form, where))
        for where, taken in blocks
        for known in taken.posed.constraints(taken is read)
    ]
    program = Program(objective, (*weights, *classes))
    note = "from T = 2 on, through two potentials"
    certificate = at.prover.prove(note, program, exactly(Fraction(0)), 1)
    verdict = Verdict.OPEN if certificate is None else Verdict.CERTIFIED
    size, seconds = max(map(len, program.blocks)), time.perf_counter() - begun
    upper = None if certificate is None else constant
    return [*at_once, once, Certified(None, upper, constant, verdict, certificate, None, True, size, note, seconds)]


def _apart(form: Form, where: str) -> Form:
    """The form with rows and values of its own: another state of another problem."""

    def moved(row: BasisVector) -> BasisVector:
        return BasisVector(f"{row.block}, {where}", row.name)

    entries = {(moved(a), moved(b)): c for (a, b), c in form.entries.items()}
    return Form(entries, {f"{name}, {where}": c for name, c in form.values.items()}, form.constant)


def certify(case: Case, tight: bool = False, prover: Prover | None = None) -> Certified:
    """The worst case of a claim over its class, at the parameters of an exact instance that meets its hypotheses.

    The functions and the state of the instance do not matter, only its class, its number of clients and its
    parameters; what is found holds in every dimension. The claim's own algorithm and quantities are run on formal
    vectors, and must treat all coordinates alike. Of several comparisons the worst is returned. Function values after
    the step are first bounded by smoothness alone (a smaller program, whose optimum is an upper bound); with ``tight``,
    or when that does not prove the claim and the program is small, every point is interpolated, and the interval is
    that of the class itself. ``prover``: what proves the steps, a solver by default.

    Raise ``ValueError`` if the statement, its setting or its quantities cannot be posed at these parameters, or a
    hypothesis fails; :class:`Refused` when the claim cannot be certified at any parameters.
    """
    statement = case.statement
    if not statement.bounding:
        raise Refused(f"no worst case over a class is known for a statement of kind {statement.kind}")
    prover = prover or Solving()
    try:
        with attributed(case.claim, case.instance.text):
            anything = posed_as_claimed(case)
            parts = _parts(statement, case, anything, tight, prover)
    except NotLinear as error:
        raise ValueError(f"{case.claim.id} is not linear in inner products and function values: {error}") from error
    size, seconds = max(part.size for part in parts), sum(part.seconds for part in parts)
    return replace(weakest(parts), relaxed=any(part.relaxed for part in parts), size=size, seconds=seconds)


@singledispatch
def _parts(statement: Statement, case: Case, anything: bool, tight: bool, prover: Prover) -> list[Certified]:
    """Return the certified comparisons of a statement, one by one."""
    comparisons = enumerate(statement.comparisons)
    return [_compare(case, k, c, anything, tight, prover) for k, c in comparisons]


@_parts.register
def _(statement: Bound, case: Case, anything: bool, tight: bool, prover: Prover) -> list[Certified]:
    if anything:
        raise Refused(f"the hypotheses of {case.claim.id} allow other functions than those posed")
    return parts(case, statement, tight, prover)


def _compare(case: Case, index: int, comparison: Comparison, anything: bool, tight: bool, prover: Prover) -> Certified:
    """One comparison left <= right of a statement about one step or one point, ``anything``: for any functions."""
    factor, above = _factor(case, comparison)
    if factor is not None and factor != above:
        # An irrational multiple of a potential: the side itself is not a form, and what is shown is slightly stronger.
        potential = comparison.right / case.statement.factor
        case = case.with_claim(replace(case.claim, statement=case.statement.changed({"right": potential})))
    scale = factor if factor == above else 1

    def against(exact: bool, tight: bool) -> Certified:
        begun = time.perf_counter()
        posed = posing.pose(case.setting, case.instance, anything)
        theta, formal = np.zeros((1, 0)), case.with_instance(posed.instance)
        escaped = leaving(formal, theta)
        if escaped is not None and any(v.coefficients for v in escaped.flat):
            return left_domain(Fraction(0))
        left, right = (scalar(side) for side in sides(formal, theta)[index])
        step = f"comparison {index + 1}{', every point interpolated' if exact else ''}"
        if factor is not None and factor > 0:
            return bounded(prover, step, posed, (left, right / scale), factor, exact, tight, begun)
        return bounded(prover, step, posed, (left, right), Fraction(0), exact, tight, begun)

    found = escalated(against, tight)
    undecided = above is not None and found.lower is not None and found.lower <= above
    return replace(found, verdict=Verdict.OPEN) if undecided and found.verdict is Verdict.REFUTED else found


def _factor(case: Case, comparison: Comparison) -> tuple[Fraction | None, Fraction | None]:
    """Rationals around the number by which the right side multiplies a potential: the factor, or 1 for a multiple of
    one quantity."""
    statement = case.statement
    if statement.factor is not None:
        return enclosed(statement.factor, case.letters)
    named = {q.expression for q in statement.quantities}
    parts = sympy.Mul.make_args(comparison.right)
    quantities = [e for e in parts if e in named]
    rest = sympy.Mul(*(e for e in parts if e not in named))
    alone = len(quantities) == 1 and not any(rest.has(e) for e in named)
    return (Fraction(1), Fraction(1)) if alone else (None, None)
