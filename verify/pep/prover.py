"""Who proves a step of a certificate: a solver that looks for multipliers, or multipliers that were stored.

A claim is certified over its class in steps, each the bound of one program. The code that poses the programs does not
know where their proofs come from: it asks a prover, naming the step, and does the same whether multipliers are found
or read. So a certificate is replayed by the very code that made it, without a solver.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

from verify.base.verdict import Verdict
from verify.exact import elimination
from verify.pep import programs, rounding
from verify.pep.gram import Form
from verify.pep.programs import Certificate, Program, Quality

#: Relative excess of the solver's value over the claimed number from which on no proof of it is sought.
_HOPELESS = 1e-3


@dataclass(frozen=True)
class Certified:
    """The worst case at one choice of parameters lies in [lower, upper]; the claim says it is at most ``claimed``.

    For a contraction it is the largest E[potential after] / (potential before), and ``claimed`` the factor; where the
    right side is a multiple of one quantity it is the largest left/right, and ``claimed`` is 1; otherwise it is the
    largest left - right over Gram matrices of trace 1, and ``claimed`` is 0. Both ends are exact, and None where none
    was found or asked for.

    ``verdict``: ``CERTIFIED`` when exact rational multipliers prove ``claimed`` itself, ``REFUTED`` when a rational
    Gram matrix, that is a function of the class (with compression errors of the moments allowed), does worse, else
    ``OPEN``; the solver's word counts for nothing. ``certificate`` proves ``claimed`` if certified, else ``upper``.
    ``quality``: how nearly the solver's own multipliers prove ``claimed``, at 50 digits. ``relaxed``: the program
    allowed more than the class, so that there is no lower bound. ``size``: rows of the exact program.
    """

    lower: Fraction | None
    upper: Fraction | None
    claimed: Fraction
    verdict: Verdict
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

    ``homogeneous``: the first constraint only normalises, and ``claimed`` is 0, which is proved without it alone.
    ``relaxed``: the program allows more than the class. Without ``tight`` a proof of ``claimed`` is enough.
    """
    begun = time.perf_counter()
    size = max(map(len, program.blocks), default=0)
    free = _free(program)
    if free:
        note = f"unbounded: {', '.join(sorted(free))} may take any value"
        return Certified(None, None, claimed, Verdict.REFUTED, size=size, note=note)
    if not tight and (plain := _by_squares(program, claimed, homogeneous)) is not None:
        seconds = time.perf_counter() - begun
        return Certified(None, claimed, claimed, Verdict.CERTIFIED, plain, None, relaxed, size, seconds=seconds)
    posed = programs.equilibrated(program)
    solution = programs.solve(posed)
    note = f"the solver says {solution.status}"
    if solution.status == "unbounded":
        # No multipliers prove any bound; but the solver's word is not a counterexample.
        seconds = time.perf_counter() - begun
        return Certified(None, None, claimed, Verdict.OPEN, relaxed=relaxed, size=size, note=note, seconds=seconds)
    variants = [rounding.balanced(posed, solution), program, posed]
    certificate = None
    # Where no proof can be, as a point of the program shows, or the solver when it is sure, none is sought.
    excess = 0.0 if solution.value is None else solution.value - float(claimed)
    hopeless, point = excess > _HOPELESS * max(1.0, abs(float(claimed))), None
    if hopeless:
        point = rounding.lower_bound(posed, solution)
        hopeless = solution.status == "optimal" if point is None else point[0] > claimed
    if hopeless:
        pass
    elif homogeneous:
        bare = [Program(p.objective, p.constraints[1:], p.units) for p in (program, posed)]
        certificate = rounding.prove(bare[0], claimed, bare)
        certificate = certificate or rounding.prove_otherwise(bare[0], bare[1], claimed)
    else:
        certificate = rounding.prove(program, claimed, variants) or rounding.prove_otherwise(program, posed, claimed)
    lower, upper = None, claimed if certificate else None
    if certificate is None or tight:
        if not relaxed:
            point = point or rounding.lower_bound(posed, solution)
            lower = point[0] if point else None
        seen = None if hopeless and not tight else solution.value
        above = None if seen is None else rounding.upper_bound(program, seen, variants)
        if above is not None and (upper is None or above.bound < upper):
            upper = above.bound
            certificate = certificate or above
    verdict = Verdict.OPEN
    # A proof for states of one size does not extend to others if a side has a constant term.
    sized = homogeneous and certificate is not None and certificate.multipliers.get(program.constraints[0].name, 0) != 0
    if certificate is not None and certificate.bound <= claimed and not sized:
        verdict = Verdict.CERTIFIED
    elif lower is not None and lower > claimed:
        verdict = Verdict.REFUTED
    quality = programs.quality(program, solution.multipliers, claimed) if solution.multipliers else None
    seconds = time.perf_counter() - begun
    return Certified(lower, upper, claimed, verdict, certificate, quality, relaxed, size, note, seconds)


def _by_squares(program: Program, claimed: Fraction, homogeneous: bool) -> Certificate | None:
    """The proof that uses nothing but what normalises the program, where the sides differ by a sum of squares.

    A solver finds such a proof only up to rounding, with multipliers of everything else that are nearly 0.
    """
    normalising = {} if homogeneous else {program.constraints[0].name: claimed}
    found = Certificate(program, normalising, claimed)
    return found if found.check() else None


def _free(program: Program) -> set[str]:
    """Function values of the objective that occur in no constraint."""
    return set(program.objective.values) - {name for form in program.forms for name in form.values}


class ProofStep(NamedTuple):
    """A bound of one program: objective = bound + sum of multiplier * constraint - remainder.

    ``squares``: the pivots of the remainder, a form that is a sum of that many squares with these coefficients.
    """

    bound: Fraction
    multipliers: Mapping[str, Fraction]
    squares: tuple[Fraction, ...]


class Prover(Protocol):
    """Proves the steps of a certificate. The caller names each step; a repeated name denotes another step."""

    def bounds(
        self, step: str, program: Program, claimed: Fraction, homogeneous: bool, relaxed: bool, tight: bool
    ) -> Certified:
        """As the function :func:`bounds`."""

    def prove(
        self, step: str, program: Program, candidates: Callable[[], Iterable[Fraction]], guesses: int
    ) -> Certificate | None:
        """A certificate of the first of the candidates that is proved, or None."""


def exactly(bound: Fraction) -> Callable[[], Iterable[Fraction]]:
    """The only candidate."""
    return lambda: (bound,)


class _StepNames:
    """Names of steps, made distinct when one is requested again."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def _name(self, step: str) -> str:
        self._asked[step] += 1
        return step if self._asked[step] == 1 else f"{step} ({self._asked[step]})"


class Solving(_StepNames):
    """Multipliers are found by a solver and rounded; ``steps`` holds what was proved, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: dict[str, ProofStep] = {}

    def bounds(
        self, step: str, program: Program, claimed: Fraction, homogeneous: bool, relaxed: bool, tight: bool
    ) -> Certified:
        """Bound the program's value by ``claimed`` with a solver; a proof is kept as a step."""
        name, found = self._name(step), bounds(program, claimed, homogeneous, relaxed, tight)
        if found.verdict is Verdict.CERTIFIED and found.certificate is not None:
            self._keep(name, found.certificate)
        return found

    def prove(
        self,
        step: str,
        program: Program,
        candidates: Callable[[], Iterable[Fraction]],
        guesses: int = rounding.GUESSES,
    ) -> Certificate | None:
        """The first candidate that bounds the program with exact multipliers, kept as a step; else None."""
        name, variants = self._name(step), [programs.equilibrated(program), program]
        for bound in candidates():
            plain = Certificate(program, {}, bound)
            certificate = plain if plain.check() else rounding.prove(program, bound, variants, guesses)
            if certificate is not None:
                self._keep(name, certificate)
                return certificate
        return None

    def _keep(self, name: str, found: Certificate) -> None:
        self.steps[name] = stored(found)


class DoesNotHold(ValueError):
    """A stored step that its multipliers do not prove."""


class Stored(_StepNames):
    """Multipliers are those of stored steps, which are checked in exact arithmetic; nothing is looked for.

    A step that was not stored is not proved; one that was and does not hold raises :class:`DoesNotHold`. ``used``: the
    steps that were asked for, each with its proof.
    """

    def __init__(self, steps: Mapping[str, ProofStep]) -> None:
        super().__init__()
        self._steps = steps
        self.used: dict[str, Certificate] = {}

    def bounds(
        self, step: str, program: Program, claimed: Fraction, homogeneous: bool, relaxed: bool, tight: bool
    ) -> Certified:
        """Check the stored multipliers for ``claimed``. Raise ``DoesNotHold`` if the stored step fails."""
        size = max(map(len, program.blocks), default=0)
        name = self._name(step)
        if _free(program) or name not in self._steps:
            return Certified(None, None, claimed, Verdict.OPEN, relaxed=relaxed and not _free(program), size=size)
        if self._steps[name].bound > claimed:
            raise DoesNotHold(f"step {name!r} is to prove {claimed}, and its bound is {self._steps[name].bound}")
        proved = Program(program.objective, program.constraints[1:], program.units) if homogeneous else program
        certificate = self._checked(name, proved)
        return Certified(None, claimed, claimed, Verdict.CERTIFIED, certificate, relaxed=relaxed, size=size)

    def prove(
        self,
        step: str,
        program: Program,
        candidates: Callable[[], Iterable[Fraction]],
        guesses: int = rounding.GUESSES,
    ) -> Certificate | None:
        """The stored certificate, checked; None where the step was not stored."""
        name = self._name(step)
        return self._checked(name, program) if name in self._steps else None

    def _checked(self, name: str, program: Program) -> Certificate:
        step = self._steps[name]
        certificate = self.used[name] = Certificate(program, step.multipliers, step.bound)
        wrong = _wrong(certificate)
        if wrong is None and squares(certificate.slack()) != step.squares:
            wrong = "the squares that are left are not those stored"
        if wrong is not None:
            raise DoesNotHold(f"step {name!r} is not proved by its multipliers: {wrong}")
        return certificate


def _wrong(certificate: Certificate) -> str | None:
    """Return the defect of a proof, with the residual, or None."""
    unknown = set(certificate.multipliers) - {c.name for c in certificate.program.constraints}
    if unknown:
        return f"there is no constraint {min(unknown)!r}"
    negative = {name: m for name, m in certificate.multipliers.items() if m < 0}
    if negative:
        name = min(negative)
        return f"that of {name!r} is {negative[name]}, below 0"
    slack = certificate.slack()
    if slack.values:
        name = min(slack.values)
        return f"the function value {name!r} is left with the coefficient {slack.values[name]}"
    if slack.constant < 0:
        return f"the bound falls short by {-slack.constant}"
    return None if certificate.check() else "the form that is left is not a sum of squares"


def stored(found: Certificate) -> ProofStep:
    """Return the parts of a proof that are stored."""
    multipliers = {name: m for name, m in found.multipliers.items() if m != 0}
    return ProofStep(found.bound, multipliers, squares(found.slack()))


def squares(remainder: Form) -> tuple[Fraction, ...]:
    """The nonzero pivots of exact elimination on a form, block by block, and its constant last.

    -1 stands for the pivot that shows that a block is not positive semidefinite.
    """
    blocks = sorted({row.block for row in remainder.rows})
    rows = sorted(remainder.rows)
    found: list[Fraction] = []
    for block in blocks:
        try:
            for pivot, _ in elimination.squares(remainder.matrix([r for r in rows if r.block == block])):
                found.append(pivot)
        except ValueError:
            found.append(Fraction(-1))
    return (*found, Fraction(remainder.constant))


def weakest(parts: Sequence[Certified]) -> Certified:
    """The part on which the verdict of all rests: the first that is refuted, else open, else certified."""
    order = (Verdict.CERTIFIED, Verdict.OPEN, Verdict.REFUTED)
    return max(parts, key=lambda part: order.index(part.verdict))
