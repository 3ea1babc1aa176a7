"""The smallest number that holds at given letters, as an exact interval: a certificate above, a state below."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fedtheory.instances import Recipe
from verify.base.case import Case
from verify.base.faults import attributed
from verify.base.plain import counted
from verify.base.verdict import Verdict
from verify.best import places, states
from verify.best.states import AtInstance, AtPoints, Witness
from verify.best.subjects import Subject
from verify.pep import rounding
from verify.pep.programs import BEFORE, Certificate, Program
from verify.pep.prover import Certified, DoesNotHold, ProofStep, Solving, Stored
from verify.pep.worst_case import certify

#: Relative errors within which the value of a program may be a simple fraction.
_SIMPLE = (1e-7, 1e-9)
#: How near to the value of a program, as a solver has it, a state comes that is taken to attain it.
_NEAR = 1e-7

Say = Callable[[str], None]


@dataclass(frozen=True)
class Interval:
    """The smallest number for which a claim holds at the letters of a ``recipe`` lies in [lower, upper].

    ``steps`` prove the claim with ``upper``; ``witness`` is where it fails with every number below ``lower``. An end is
    None where none was found: ``note`` says why. ``printed``: what is printed, at these letters.
    """

    recipe: Recipe
    letters: Mapping[str, str]
    printed: Fraction
    lower: Fraction | None = None
    upper: Fraction | None = None
    witness: Witness | None = None
    steps: Mapping[str, ProofStep] = field(default_factory=dict)
    note: str = ""

    @property
    def closed(self) -> bool:
        """True if the number is known exactly."""
        return self.lower is not None and self.lower == self.upper


def smallest(
    of: Subject,
    at: places.Letters,
    deadline: float = math.inf,
    say: Say = lambda text: None,
    keep: Callable[[Interval], None] = lambda found: None,
    known: Interval | None = None,
) -> Interval:
    """The interval of the smallest number. Raise ``ValueError`` if the claim has no worst case there.

    ``deadline``: of ``time.perf_counter``; what is known by then is returned. ``say``: called with what is being done;
    ``keep``: given what is known when that is less than all;
    ``known``: an interval at the same letters, whose lower end is taken over.
    """
    recipe = places.recipe(of.claim, at)
    case = places.case(of.claim, recipe)
    unit = of.at(Fraction(1))
    printed = of.stated(case.instance)
    found = Interval(recipe, places.shown(case), printed)
    with attributed(of.claim, case.instance.text):
        program, relaxed = states.pose(case.with_claim(unit))
    size = states.affordable(program)
    states.check_sign(of.claim, program)
    say(f"a semidefinite program of {counted(size, 'row')} and {counted(len(program.constraints), 'constraint')}")
    posed, solution = states.solved(program)
    if solution.value is None or solution.status == "unbounded":
        return replace(found, note=f"nothing is known from above: the solver says {solution.status}")
    say(f"its value is about {solution.value:.9g}")
    lower: tuple[Fraction, Witness] | None = None
    if known is not None and known.lower is not None and known.witness is not None:
        lower = (known.lower, known.witness)
    else:
        say("instances are searched for a state that attains it")
        lower = states.worst_instance(unit, places.recipes(of.claim, at))
    if not relaxed and time.perf_counter() < deadline and not _attains(lower, solution.value):
        say("no instance attains it; a function is built from its Gram matrix")
        point = states.feasible(program, posed, solution)
        if point is not None and (lower is None or point[0] > lower[0]):
            lower = point
    if lower is not None:
        found = replace(found, lower=lower[0], witness=lower[1])
        keep(found)
    variants = [rounding.balanced(posed, solution), program, posed]
    for candidate in candidates(program, variants, solution.value, lower, deadline, say):
        proof = steps(of, case, candidate)
        if proof is not None:
            return replace(found, upper=candidate.bound, steps=proof)
    return replace(found, note="no certificate was found from above" + _late(deadline))


def _late(deadline: float) -> str:
    return " in the time given" if time.perf_counter() > deadline else ""


def _attains(seen: tuple[Fraction, Witness] | None, value: float) -> bool:
    return seen is not None and float(seen[0]) >= value - _NEAR * max(1.0, abs(value))


def candidates(
    program: Program,
    variants: list[Program],
    value: float,
    seen: tuple[Fraction, Witness] | None,
    deadline: float,
    say: Say,
) -> Iterator[Certificate]:
    """Certificates of numbers near the value of the program: of one that is attained, of simple ones, of others."""
    near = [seen[0]] if seen is not None and _attains(seen, value) and isinstance(seen[1], AtInstance) else []
    near += [s for s in (rounding.simplest(value, tol) for tol in _SIMPLE) if not near]
    for bound in dict.fromkeys(near):
        if time.perf_counter() > deadline:
            return
        say(f"is {bound} certified?")
        if (certificate := rounding.prove(program, bound, variants)) is not None:
            yield certificate
    for bound in rounding.just_above(value):
        if time.perf_counter() > deadline:
            return
        say(f"is {float(bound):.12g} certified?")
        if (certificate := rounding.prove(program, bound, variants, guesses=1)) is not None:
            yield certificate


class _Known(Solving):
    """A solver that knows the proof of the worst case, and finds the other proofs.

    ``scaled``: the right side of the program that is asked for is that of the known one times the bound.
    """

    def __init__(self, known: Certificate, scaled: bool) -> None:
        super().__init__()
        self._known, self._scaled = known, scaled

    def bounds(
        self, step: str, program: Program, claimed: Fraction, homogeneous: bool, relaxed: bool, tight: bool
    ) -> Certified:
        """Return CERTIFIED if the known multipliers prove the bound ``claimed``, OPEN otherwise."""
        size, known = max(map(len, program.blocks), default=0), self._known
        scale = claimed / known.bound if self._scaled and known.bound > 0 else Fraction(1)
        multipliers = {name: m * (scale if name == BEFORE else 1) for name, m in known.multipliers.items()}
        certificate = Certificate(program, multipliers, known.bound * scale)
        if homogeneous or certificate.bound > claimed or not certificate.check():
            return Certified(None, None, claimed, Verdict.OPEN, size=size)
        self._keep(self._name(step), certificate)
        return Certified(None, claimed, claimed, Verdict.CERTIFIED, certificate, size=size)


def steps(of: Subject, case: Case, known: Certificate) -> Mapping[str, ProofStep] | None:
    """The steps that prove the claim with the bound of a certificate; None where it also asks for what is not found."""
    prover = _Known(known, of.scaled)
    found = certify(case.with_claim(of.at(known.bound)), tight=True, prover=prover)
    return prover.steps if found.verdict is Verdict.CERTIFIED else None


def check(of: Subject, found: Interval) -> None:
    """Raise ``ValueError`` unless both ends of an interval are shown again by the claim's own code, without a
    solver.
    """
    case = places.case(of.claim, found.recipe)
    if places.shown(case) != dict(found.letters):
        raise DoesNotHold(f"the letters of {of.claim.id} have other values at the stored recipe")
    if (stated := of.stated(case.instance)) != found.printed:
        raise DoesNotHold(f"{of.claim.id} states {stated}, and {found.printed} is stored")
    if found.upper is not None:
        again = certify(case.with_claim(of.at(found.upper)), tight=True, prover=Stored(found.steps))
        if again.verdict is not Verdict.CERTIFIED:
            raise DoesNotHold(f"the stored steps do not prove {of.claim.id} with {found.upper}")
    if found.witness is None:
        if found.lower is not None:
            raise DoesNotHold(f"nothing is stored that shows {found.lower} from below")
        return
    unit = of.at(Fraction(1))
    if isinstance(found.witness, AtPoints):
        program, relaxed = states.pose(case.with_claim(unit))
        if relaxed:
            raise DoesNotHold("the program allows more than the class, so that no point of it is a function")
        reached = found.witness.objective(program)
    else:
        other = places.case(of.claim, found.witness.recipe)
        if places.shown(other) != dict(found.letters):
            raise DoesNotHold("the stored state is of an instance with other letters")
        reached = found.witness.ratio(unit)
    if found.lower is None or reached < found.lower:
        raise DoesNotHold(f"the stored state reaches {reached}, and not {found.lower}")
