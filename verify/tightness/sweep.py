"""The tightness of a claim over a grid of parameters, and in one sentence: the printed bound against the worst case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import product

from fedtheory import tables
from fedtheory.claims import Claim
from verify.audit import sweeping
from verify.base.along_runs import of_runs
from verify.base.verdict import Verdict
from verify.evidence.parsing import fraction
from verify.tightness import grids, rounds
from verify.tightness.comparison import Point, Subject, at_choice, short
from verify.tightness.grids import Choice, Letters
from verify.tightness.kept import Kept

#: The least size of a letter, and the reciprocal of the greatest.
_SMALL = Fraction(1, 10**100)
#: Choices of the grid at which a bound is compared after several numbers of rounds.
_CHOICES = 3


def letters(texts: Sequence[str]) -> dict[str, Fraction]:
    """Exact values by name from texts such as "kappa=1e4", "gamma=20/11" or "mu=0.1"; ``ValueError`` as for
    :func:`fedtheory.tables.assignments`, and for a number far from the range of floats, with which solvers work."""
    found = tables.assignments(texts, fraction)
    for name, value in found.items():
        if value and not _SMALL <= abs(value) <= 1 / _SMALL:
            raise ValueError(f"{name} must be 0 or of a size between 1e-100 and 1e100")
    return found


def grid(claim: Claim, at: Letters | None = None) -> list[Choice]:
    """The points at which :func:`measure` compares. ``ValueError`` as there."""
    statement = claim.statement
    if not statement.bounding:
        raise ValueError(
            f"{claim.id} has no worst case: one-step statements, bounds and inequalities have one, not a statement of "
            f"kind {statement.kind}"
        )
    if of_runs(statement):
        raise ValueError(
            f"{claim.id} is about an average, a sum or the least value over the rounds of a run, whose worst case over "
            "a class is not posed: `fedtheory check` searches for a counterexample, and for a proof"
        )
    if claim.setting.of_constants:
        raise ValueError(f"{claim.id} has no worst case over a class of functions: it involves constants only")
    return grids.choices(claim, at or {})


def tasks(
    claim: Claim, at: Letters | None = None, steps: int | None = None, known: Sequence[Kept] = ()
) -> list[partial[tuple[Point, ...]]]:
    """Return the tasks that :func:`measure` runs; each gives the points of one choice. Raise
    ``ValueError`` as there.
    """
    found = grid(claim, at)
    if steps is None:
        return [partial(at_choice, claim, choice) for choice in found]
    if not claim.statement.horizon:
        raise ValueError(f"{claim.id} says nothing of several steps: a bound after T rounds does")

    def proof(choice: Choice, k: int) -> rounds.Proof | None:
        return next((one.proof for one in known if (one.rounds, one.recipe) == (k, choice.recipes[0])), None)

    each = product(found[:_CHOICES], range(1, steps + 1))
    return [partial(rounds.after_rounds, claim, choice, k, proof(choice, k)) for choice, k in each]


def measure(
    claim: Claim,
    at: Letters | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
    steps: int | None = None,
    known: Sequence[Kept] = (),
    keep: Callable[[Kept], None] = lambda one: None,
) -> tuple[Point, ...]:
    """The points of the grid, in order, for any number of ``jobs``; letters in ``at`` are fixed.

    ``steps``: a bound is compared after each number of rounds up to so many, at the first choices of the grid.
    ``known``: what shows some of these again, without a solver; ``keep`` receives what shows those that are done.
    ``progress`` is called with the letters of each choice as it is done. Raise ``ValueError`` if the claim has no worst
    case, for a letter that its grid does not have, if no point meets its hypotheses, and for more than one job with a
    changed claim, which cannot be sent to another process.
    """
    if jobs > 1 and claim.changes:
        raise ValueError(f"the changed claim {claim.id} is measured in one process only, got jobs={jobs}")
    found: list[Point] = []
    asked = tasks(claim, at, steps, known)
    for task, points in zip(asked, sweeping.sweep(_done, [(task,) for task in asked], jobs), strict=True):
        found.extend(points)
        if points[0].proof is not None:
            _, choice, taken, _ = task.args
            keep(Kept(choice.recipes[0], taken, points[0].proof))
        if progress is not None:
            progress(points[0].where)
    return tuple(found)


def _done(task: partial[tuple[Point, ...]]) -> tuple[Point, ...]:
    return task()


def series(points: Iterable[Point]) -> dict[tuple[Subject, str], list[Point]]:
    """The points by what is compared."""
    found: dict[tuple[Subject, str], list[Point]] = {}
    for point in points:
        found.setdefault((point.subject, point.part), []).append(point)
    return found


# In words


def sentence(points: Sequence[Point]) -> str:
    """Return a summary of one series. "Within x %" refers to the rate 1 - rho, the constant, or the right side."""
    exceeded = [point for point in points if point.verdict is Verdict.REFUTED]
    unknown = [point for point in points if point.verdict is Verdict.OPEN]
    held = [point for point in points if point.verdict is Verdict.CERTIFIED]
    clauses = []
    if exceeded:
        clauses.append(_refuted(exceeded, len(points)))
    if held:
        clauses.append(_held(held, len(points)))
    if unknown:
        clauses.append(_undecided(unknown, len(points)))
    text = "; ".join(clauses) + "."
    return f"{points[0].part}: {text}" if points[0].part else text


_NAMES = {
    Subject.FACTOR: "the stated rate 1 - rho",
    Subject.CONSTANT: "the stated constant",
    Subject.RATIO: "the right side",
    Subject.DECREASE: "the decrease that it guarantees",
}


def _share(count: int, total: int) -> str:
    return "at every point of the grid" if count == total else f"at {count} of {total} points of the grid"


def _refuted(exceeded: Sequence[Point], total: int) -> str:
    where = _share(len(exceeded), total)
    endless = [point for point in exceeded if point.lower is None]
    if endless:
        return f"it fails {where} by more than any multiple (as at {endless[0].where}: {endless[0].note})"
    worst = min(exceeded, key=lambda point: point.slack[1] or 0)
    assert worst.lower is not None
    least, most = rounded(worst.lower, up=False), None if worst.upper is None else rounded(worst.upper, up=True)
    size = f"is at least {least}, with nothing known from above" if most is None else f"lies in [{least}, {most}]"
    failure = f"what is stated does not hold {where}"
    if worst.subject is Subject.DECREASE:
        return f"{failure}: {_NAMES[worst.subject]}, over the actual one, {size} (worst at {worst.where})"
    name = {Subject.FACTOR: "factor", Subject.CONSTANT: "constant"}.get(worst.subject, "multiple of the right side")
    stated = short(worst.printed)
    return f"{failure}: the smallest {name} that holds {size}, where {stated} is stated (worst at {worst.where})"


def _held(held: Sequence[Point], total: int) -> str:
    where = _share(len(held), total)
    known = [(point.slack[1], point) for point in held]
    slacks = [(slack, point) for slack, point in known if slack is not None]
    if not slacks:
        return f"what is stated holds {where}, with nothing known from below"
    slack, worst = max(slacks, key=lambda pair: pair[0])
    missing = len(held) - len(slacks)
    text = (
        f"{_NAMES[worst.subject]} is within {percent(slack - 1)} of the best possible {where} (worst at {worst.where})"
    )
    if missing:
        text += f", leaving out {missing} where nothing is known from below"
    times = [point.iterations[1] for point in held if point.iterations[1] is not None]
    if times:
        text += f" and promises at most {float(rounded(Fraction(max(times)), True, 3)):g} times the iterations needed"
    return text


def _undecided(unknown: Sequence[Point], total: int) -> str:
    text = f"nothing is proved from above {_share(len(unknown), total)}"
    best = [(slack, point) for point in unknown for slack in (point.slack[1],) if slack is not None]
    if not best:
        return f"{text} ({unknown[0].note})" if unknown[0].note else text
    slack, worst = min(best, key=lambda pair: pair[0])
    size = f"{float(100 / slack):.4g} % of what is stated"
    if worst.subject == Subject.FACTOR:
        size = f"{float(slack):.4g} times the stated rate 1 - rho"
    return f"{text}, where the worst case found has {size} (at {worst.where})"


def percent(share: Fraction) -> str:
    """A share in percent, four digits rounded up, at least 0.01 %."""
    return f"{max(0.01, float(rounded(100 * share, True, 4))):g} %"


def rounded(value: Fraction, up: bool, digits: int = 6) -> str:
    """A number to some digits, rounded up or down so that a bound stays one."""
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize():f}"
