"""``certify``: the worst case of a claim over the whole class of functions, at the parameters of an instance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.rational import evaluate
from fedtheory.statements import Bound, Comparison, Inequality, OneStep, Quantity
from fedtheory.symbols import T
from verify.evaluate import hypotheses_hold, leaving, sides
from verify.pep import posing, programs, rounding
from verify.pep.functions import Formal
from verify.pep.gram import Form, NotLinear
from verify.pep.posing.runs import Run, apart, run, scalar
from verify.pep.programs import Certificate, Constraint, Program, Quality

#: Relative excess over the claimed number up to which an exact upper bound still counts as certified.
TOLERANCE = Fraction(1, 10**6)

#: Relative excess of the solver's value over the claimed number from which on no proof of it is sought.
_HOPELESS = 1e-3

#: Rows beyond which the exact program is not tried unasked: seconds at 30.
LARGEST = 30


class Status(IntEnum):
    """What was found, best first.

    ``PROVED``: exact rational multipliers prove the claimed number. ``CERTIFIED``: they prove it up to the relative
    error ``TOLERANCE``. ``UNKNOWN``: neither; the solver's word counts for nothing. ``EXCEEDED``: a rational Gram
    matrix, that is a function of the class (with compression errors of the moments allowed), does worse than claimed.
    """

    PROVED = 0
    CERTIFIED = 1
    UNKNOWN = 2
    EXCEEDED = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Certified:
    """The worst case at one choice of parameters lies in [lower, upper]; the claim says it is at most ``claimed``.

    For a contraction it is the largest E[potential after] / (potential before), and ``claimed`` the factor; where the
    right side is a multiple of one quantity it is the largest left/right, and ``claimed`` is 1; otherwise it is the
    largest left - right over Gram matrices of trace 1, and ``claimed`` is 0. Both ends are exact, and None where none
    was found or asked for. ``certificate`` proves ``claimed`` when the status is ``PROVED``, else ``upper``.
    ``quality``: how nearly the solver's own multipliers prove ``claimed``, at 50 digits. ``relaxed``: the program
    allowed more than the class, so that nothing is said from below. ``size``: rows of the exact program.
    """

    lower: Fraction | None
    upper: Fraction | None
    claimed: Fraction
    status: Status
    certificate: Certificate | None = None
    quality: Quality | None = None
    relaxed: bool = False
    size: int = 0
    note: str = ""
    seconds: float = 0.0

    @property
    def tightness(self) -> float | None:
        """lower / claimed: 1 when the claimed number is attained."""
        return None if self.lower is None or self.claimed == 0 else float(self.lower / self.claimed)


def bounds(
    program: Program, claimed: Fraction, homogeneous: bool = False, relaxed: bool = False, tight: bool = True
) -> Certified:
    """The interval of a program's value against a claimed number.

    ``homogeneous``: the first constraint only normalises, and ``claimed`` is 0, which is proved without it.
    ``relaxed``: the program allows more than the class. Without ``tight`` a proof of ``claimed`` is enough.
    """
    begun = time.perf_counter()
    size = max(map(len, program.blocks), default=0)
    free = set(program.objective.values) - {name for form in program.forms for name in form.values}
    if free:
        note = f"unbounded: {', '.join(sorted(free))} may take any value"
        return Certified(None, None, claimed, Status.EXCEEDED, size=size, note=note)
    posed = programs.equilibrated(program)
    solution = programs.solve(posed)
    note = f"the solver says {solution.status}"
    if solution.status.startswith("unbounded"):
        # No multipliers prove any bound; but the solver's word is no counterexample.
        seconds = time.perf_counter() - begun
        return Certified(None, None, claimed, Status.UNKNOWN, relaxed=relaxed, size=size, note=note, seconds=seconds)
    variants = [rounding.balanced(posed, solution), program, posed]
    certificate = None
    # The solver is not so far off: where it sees no proof none is sought.
    excess = 0.0 if solution.value is None else solution.value - float(claimed)
    hopeless = excess > _HOPELESS * max(1.0, abs(float(claimed)))
    if hopeless:
        pass
    elif homogeneous:
        bare = [Program(p.objective, p.constraints[1:], p.units) for p in (program, posed)]
        certificate = rounding.prove(bare[0], claimed, bare)
    else:
        certificate = rounding.prove(program, claimed, variants)
    lower, upper = None, claimed if certificate else None
    if certificate is None or tight:
        point = None if relaxed else rounding.lower_bound(posed, solution)
        lower = point[0] if point else None
        seen = None if hopeless and not tight else solution.value
        above = None if seen is None else rounding.upper_bound(program, seen, variants)
        if above is not None and (upper is None or above.bound < upper):
            upper = above.bound
            certificate = certificate or above
    if certificate is not None and certificate.bound <= claimed:
        status = Status.PROVED
    elif lower is not None and lower > claimed:
        status = Status.EXCEEDED
    elif upper is not None and upper <= claimed + TOLERANCE * abs(claimed):
        status = Status.CERTIFIED
    else:
        status = Status.UNKNOWN
    quality = programs.quality(program, solution.multipliers, claimed) if solution.multipliers else None
    seconds = time.perf_counter() - begun
    return Certified(lower, upper, claimed, status, certificate, quality, relaxed, size, note, seconds)


def certify(claim: Claim, instance: Instance, tight: bool = False) -> Certified:
    """The worst case of a claim over its class, at the parameters of an exact instance that meets its hypotheses.

    The functions and the state of the instance do not matter, only its class, its number of clients and its
    parameters; what is found holds in every dimension. The claim's own algorithm and quantities are run on formal
    vectors, and must treat all coordinates alike. Of several comparisons the worst is returned. Function values after
    the step are first bounded by smoothness alone (a smaller program, whose optimum is an upper bound); with ``tight``,
    or when that does not prove the claim and the program is small, every point is interpolated, and the interval is
    that of the class itself.

    ``ValueError`` when the statement, its setting or its quantities cannot be posed, a hypothesis fails, or coordinates
    are mixed.
    """
    statement = claim.statement
    if not isinstance(statement, OneStep | Bound | Inequality):
        raise ValueError(f"no worst case over a class is known for a statement of kind {statement.kind}")
    if not hypotheses_hold(claim, instance):
        raise ValueError(f"the instance does not meet the hypotheses of {claim.id}")
    if getattr(statement, "strict", False):
        raise ValueError(f"{claim.id} is strict: a worst case is attained, or approached")
    anything = posing.any_functions(claim, instance)
    if anything and isinstance(statement, Bound):
        raise ValueError(f"the hypotheses of {claim.id} allow other functions than those posed")
    try:
        posing.check_coordinates(claim, instance)
        if isinstance(statement, Bound):
            parts = _chain(claim, statement, instance, tight)
        else:
            parts = [_compare(claim, instance, k, c, anything, tight) for k, c in enumerate(statement.comparisons)]
    except NotLinear as error:
        raise ValueError(f"{claim.id} is not linear in inner products and function values: {error}") from error
    worst = max(parts, key=lambda part: part.status)
    size, seconds = max(part.size for part in parts), sum(part.seconds for part in parts)
    return replace(worst, relaxed=any(part.relaxed for part in parts), size=size, seconds=seconds)


def _escalated(against: Callable[[bool, bool], Certified], tight: bool) -> Certified:
    """``against(exact, tight)``: all points are interpolated if ``tight``, or to prove a small program."""
    found = against(tight, tight)
    return against(True, False) if found.relaxed and found.status != Status.PROVED and found.size <= LARGEST else found


def _compare(
    claim: Claim, instance: Instance, index: int, comparison: Comparison, anything: bool, tight: bool
) -> Certified:
    """One comparison left <= right of a statement about one step or one point, ``anything``: for any functions."""
    factor = _factor(claim, instance, comparison)

    def against(exact: bool, tight: bool) -> Certified:
        begun = time.perf_counter()
        posed = posing.pose(claim.setting, instance)
        theta = np.zeros((1, 0))
        escaped = leaving(claim, posed.instance, theta)
        if escaped is not None and any(v.coefficients for v in escaped.flat):
            return _left(Fraction(0))
        left, right = (scalar(side) for side in sides(claim, posed.instance, theta)[index])
        posed = _of_any_functions(claim, posed) if anything else posed
        if factor is not None and factor > 0:
            return _bounded(posed, left, right / factor, factor, exact, tight, begun)
        return _bounded(posed, left, right, Fraction(0), exact, tight, begun)

    return _escalated(against, tight)


def _of_any_functions(claim: Claim, posed: Formal) -> Formal:
    """The formal instance without what is known of functions; ``ValueError`` where that is built into their answers."""
    classes: list[Any] = [*posed.records, *(part for part in posed.others if hasattr(part, "gradient"))]
    if any((of.mu == of.L).any() for of in classes):
        raise ValueError(f"the hypotheses of {claim.id} allow other functions than those posed")
    return posed._replace(records=(), others=tuple(part for part in posed.others if not hasattr(part, "gradient")))


def _left(claimed: Fraction) -> Certified:
    return Certified(None, None, claimed, Status.EXCEEDED, note="one step leaves the domain of the left side")


def _bounded(
    posed: Formal, left: Form, right: Form, claimed: Fraction, exact: bool, tight: bool, begun: float
) -> Certified:
    """The largest left/right against a claimed number that is not 0, or else left - right against 0."""
    unasked = 0 if exact else posed.open
    constraints = posed.constraints(exact)
    program = programs.ratio(left, right, constraints) if claimed != 0 else programs.excess(left, right, constraints)
    found = bounds(program, claimed, claimed == 0, unasked > 0 or posed.wider, tight)
    if claimed != 0 and found.status <= Status.CERTIFIED and not _nonnegative(right, constraints):
        found = replace(found, upper=None, status=Status.UNKNOWN, note="the right side is not shown to be nonnegative")
    return replace(found, size=found.size + unasked, seconds=time.perf_counter() - begun)


def _nonnegative(form: Form, constraints: Sequence[Constraint]) -> bool:
    """Whether the form is shown to be nonnegative, without which a bound on a ratio to it says nothing."""
    program = Program(-1 * form, tuple(constraints))
    return (
        form.constant == 0
        and rounding.prove(program, Fraction(0), [programs.equilibrated(program), program]) is not None
    )


def _factor(claim: Claim, instance: Instance, comparison: Comparison) -> Fraction | None:
    """The number by which the right side multiplies a potential: the factor, or 1 for a multiple of one quantity."""
    statement = claim.statement
    assert isinstance(statement, OneStep | Inequality)
    if isinstance(statement, OneStep) and statement.factor is not None:
        values = claim.setting.bind(instance.problem, instance.params)
        return Fraction(evaluate(statement.factor, values))
    named = {q.expression for q in statement.quantities}
    parts = sympy.Mul.make_args(comparison.right)
    quantities = [e for e in parts if e in named]
    rest = sympy.Mul(*(e for e in parts if e not in named))
    alone = len(quantities) == 1 and not any(rest.has(e) for e in named)
    return Fraction(1) if alone else None


def _chain(claim: Claim, statement: Bound, instance: Instance, tight: bool) -> list[Certified]:
    """A bound for every T >= 0, through potentials that contract at every step, from every state that can be reached.

    A chain that fails refutes nothing, unless the potential is the left side itself.
    """
    if statement.override is not None or statement.factor.has(T) or statement.constant.has(T):
        raise ValueError(f"the bound of {claim.id} is not a constant times factor^T times the initial value")
    values = claim.setting.bind(instance.problem, instance.params)
    factor, constant = (Fraction(evaluate(e, values)) for e in (statement.factor, statement.constant))
    named = {q.expression: q for q in statement.quantities}
    if statement.left not in named or statement.initial not in named:
        raise ValueError(f"a side of {claim.id} is not a single quantity")
    left, initial = named[statement.left], named[statement.initial]
    if left.of is initial.of and constant < 1:
        # T = 0 asks for a constant of at least 1.
        return [Certified(Fraction(1), Fraction(1), constant, Status.EXCEEDED, note="at T = 0")]
    if not posing.closed(claim, instance):
        if _run(claim, instance, 1).leaves(left):
            return [_left(factor)]
        return [Certified(None, None, factor, Status.UNKNOWN, note="one step leaves the states that are posed")]

    parts = _through_potential(claim, instance, (left, initial), factor, constant, tight)
    if not _settled(parts):
        others = _after_two(claim, instance, (left, initial), factor, constant)
        parts = others if _settled(others) else parts
    return parts


def _settled(parts: Sequence[Certified]) -> bool:
    return bool(parts) and all(part.status <= Status.CERTIFIED for part in parts)


def _through_potential(
    claim: Claim, instance: Instance, ends: tuple[Quantity, Quantity], factor: Fraction, constant: Fraction, tight: bool
) -> list[Certified]:
    """left <= c V, E V(next) <= factor V, V(initial) <= c' initial for the setting's V; then the constant is c c'.

    Where V is one of many and the bound speaks of two quantities, the chain begins after one round: E V(first) <=
    factor c' initial, which asks for less, and the bound holds by itself at T = 0.
    """
    left, initial = ends
    potential = posing.potential(claim)
    contraction = _link(claim, instance, potential, potential, factor, tight, rounds=1)
    if left.of is not potential.of:
        contraction = replace(contraction, status=min(contraction.status, Status.UNKNOWN))
    # However small an excess, it grows with every round.
    if contraction.status > Status.PROVED or left.of is initial.of is potential.of:
        return [contraction]
    c = _largest(claim, instance, left, potential)
    if c.upper is None or c.upper <= 0:
        # What is never positive is not below a right side of which no sign is known.
        return [contraction, replace(c, status=max(c.status, Status.UNKNOWN), note="a left side that is not positive")]
    late = left.of is not initial.of and bool(posing.basis(claim)) and factor > 0
    scale = c.upper / factor if late else c.upper
    found = _link(claim, instance, potential, initial, constant / scale, tight, rounds=int(late), initial=True)
    upper = None if found.upper is None else scale * found.upper
    status, note = min(found.status, Status.UNKNOWN), "the constant, through the potential"
    found = replace(found, lower=None, upper=upper, claimed=constant, status=status, note=note)
    return [contraction, found, *(_at_once(claim, instance, ends, constant) if late else ())]


def _at_once(claim: Claim, instance: Instance, ends: tuple[Quantity, Quantity], constant: Fraction) -> list[Certified]:
    """The bound at T = 0, where it speaks of two quantities."""
    left, initial = ends
    return [] if left.of is initial.of else [_link(claim, instance, left, initial, constant, initial=True)]


def _run(claim: Claim, instance: Instance, rounds: int, initial: bool = False) -> Run:
    return run(claim, posing.pose(claim.setting, instance), rounds, initial)


def _link(
    claim: Claim,
    instance: Instance,
    a: Quantity,
    b: Quantity,
    claimed: Fraction,
    tight: bool = False,
    rounds: int = 0,
    initial: bool = False,
) -> Certified:
    """Whether E[a] some rounds later is at most ``claimed`` b, from every state or from the initial ones."""

    def against(exact: bool, tight: bool) -> Certified:
        begun = time.perf_counter()
        taken = _run(claim, instance, rounds, initial)
        if taken.leaves(a):
            return _left(claimed)
        # With a factor of 0 it is a <= 0 that is claimed, rather than a bound on a ratio.
        right = taken.before(b) if claimed else Form({}, {}, 0)
        return _bounded(taken.posed, taken.after(a), right, claimed, exact, tight, begun)

    # A first round has many points and little to gain from their gradients.
    return against(tight, tight) if rounds and initial else _escalated(against, tight)


def _largest(claim: Claim, instance: Instance, a: Quantity, b: Quantity) -> Certified:
    """The largest a given b = 1 over all states; a simple rational where that is provable."""
    if a.of is b.of:
        return Certified(Fraction(1), Fraction(1), Fraction(1), Status.PROVED)
    taken = _run(claim, instance, 0)
    program = programs.ratio(taken.before(a), taken.before(b), taken.posed.constraints(True))
    solution = programs.solve(programs.equilibrated(program))
    if solution.value is None:
        return Certified(None, None, Fraction(1), Status.UNKNOWN, note=f"the solver says {solution.status}")
    return bounds(program, rounding.simplest(solution.value, 1e-6), tight=False)


def _after_two(
    claim: Claim, instance: Instance, ends: tuple[Quantity, Quantity], factor: Fraction, constant: Fraction
) -> list[Certified]:
    """The bound at T = 0 and T = 1 by itself, and from T = 2 on through potentials U and V composed of a basis.

    left <= V, E V(next) <= factor V, E V(next) <= factor U, E U(first) <= factor constant initial: with weights of U
    and V as multipliers this is one program of four blocks. Empty if the setting has no basis.
    """
    left, initial = ends
    basis = posing.basis(claim)
    if not basis or factor <= 0:
        return []
    begun = time.perf_counter()
    c = _largest(claim, instance, left, basis[0])
    if c.upper is None or c.upper <= 0:
        return []
    at_once = _at_once(claim, instance, ends, constant)
    once = _link(claim, instance, basis[0], initial, factor * constant / c.upper, rounds=1, initial=True)
    if any(part.status > Status.CERTIFIED for part in (*at_once, once)):
        return []
    read, step, first = _run(claim, instance, 0), _run(claim, instance, 1), _run(claim, instance, 1, initial=True)
    if any(taken.leaves(quantity) for taken in (step, first) for quantity in basis):
        return []
    objective = apart(read.before(left), "read") - apart(factor * constant * first.before(initial), "first")
    weights = []
    for k, quantity in enumerate(basis):
        now, then = step.before(quantity), step.after(quantity)
        of_V = apart(read.before(quantity), "read") + apart(factor * now - then, "step") - apart(then, "second")
        of_U = apart(factor * now, "second") - apart(first.after(quantity), "first")
        weights += [Constraint(f"V_{k}", of_V), Constraint(f"U_{k}", of_U)]
    blocks = (("read", read), ("step", step), ("second", step), ("first", first))
    classes = [
        Constraint(f"{name}: {where}", apart(form, where))
        for where, taken in blocks
        for name, form in taken.posed.constraints(taken is read)
    ]
    program = Program(objective, (*weights, *classes))
    certificate = rounding.prove(program, Fraction(0), [programs.equilibrated(program), program], guesses=1)
    status = Status.UNKNOWN if certificate is None else Status.PROVED
    note = "from T = 2 on, through two potentials"
    size, seconds = max(map(len, program.blocks)), time.perf_counter() - begun
    upper = None if certificate is None else constant
    return [*at_once, once, Certified(None, upper, constant, status, certificate, None, True, size, note, seconds)]
