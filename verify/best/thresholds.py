"""The largest, or smallest, value of a letter at which what is stated holds: one at which it does, one at which not.

Hypotheses that bound the letter are dropped: their bounds are what is sought. Nothing is claimed between the two
values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from fedtheory.claims import Claim
from verify.base.case import Case
from verify.best import factors, places, states
from verify.best.factors import Interval, Say
from verify.best.subjects import DIFFERENCE, NoRatio, Subject, by_difference, subject
from verify.pep import programs, rounding
from verify.pep.bounding import enclosed
from verify.pep.gram import Form
from verify.pep.programs import Program

#: By how much a worst case must exceed what is stated, for floats to see it.
_SEEN = 1e-7
#: The most factors of two by which the letter is changed.
_DOUBLED = 40
#: Steps of the bisection after that.
_HALVED = 36
#: Relative errors within which a threshold may be a simple fraction, and distances at which ends are tried.
_SIMPLE = (1e-4, 1e-5, 1e-6, 1e-7)
_AWAY = tuple(Fraction(1, 10**k) for k in (7, 6, 5, 4, 3, 2))


def threshold(
    claim: Claim, letter: str, at: places.Letters, largest: bool, deadline: float, say: Say
) -> tuple[Interval, Interval]:
    """Two values of the letter that are near each other: the claim holds at one and fails at the other.

    Raise ``ValueError`` if no such values are found.
    """
    free = places.freed(claim, letter)
    try:
        return _between(subject(free), letter, at, largest, deadline, say)
    except NoRatio as error:
        say(f"{error}; left - right is compared with 0 instead")
        holds, fails = _between(by_difference(free), letter, at, largest, deadline, say)
        return replace(holds, note=DIFFERENCE), replace(fails, note=DIFFERENCE)


def _between(
    of: Subject, letter: str, at: places.Letters, largest: bool, deadline: float, say: Say
) -> tuple[Interval, Interval]:
    claim = of.claim
    where = _Line(of, letter, _pinned(of, letter, at))
    holds, fails = _bracket(where, largest, say)
    for _ in range(_HALVED):
        if time.perf_counter() > deadline or abs(fails - holds) < 1e-10 * abs(fails):
            break
        middle = (holds + fails) / 2
        holds, fails = (holds, middle) if where.excess(middle) > _SEEN else (middle, fails)
    say(f"the {of.name} that is stated is seen to fail beyond {letter} = {(holds + fails) / 2:.9g}")
    inside = _first(where.proved, _inside(holds, fails), deadline, say, "is it certified at {}?")
    if inside is None:
        raise ValueError(
            f"no certificate of {claim.id} was found near {letter} = {holds:.9g}: up to there it fails by less than "
            f"{_SEEN:g}, if at all, and it may hold at no value"
        )
    start = Fraction(inside.letters[letter])
    outside = _first(where.broken, _outside(start, largest), deadline, say, "does it fail at {}?")
    if outside is None:
        raise ValueError(f"no function at which {claim.id} fails was found near {letter} = {fails:.9g}")
    return inside, outside


def _pinned(of: Subject, letter: str, at: places.Letters) -> dict[str, Fraction]:
    """The letters as they are at first, so that no other one follows the one that varies."""
    recipe = places.recipe(of.claim, at)
    shown = places.shown(Case(of.claim, recipe))
    others = {name: shown[name] for name in places.known(of.claim) if name in shown and name != letter}
    return {name: Fraction(value) for name, value in others.items() if _is_fraction(value)} | dict(at)


def _is_fraction(text: str) -> bool:
    try:
        Fraction(text)
    except ValueError:
        return False
    return True


class _Line:
    """A claim as one letter varies."""

    def __init__(self, of: Subject, letter: str, at: places.Letters) -> None:
        self.of, self.letter, self._at = of, letter, at

    def at(self, value: Fraction) -> dict[str, Fraction]:
        """The letters, this one with a value."""
        return {**self._at, self.letter: value}

    def start(self) -> Fraction:
        """The value that is given, or that the hypotheses of the rest leave."""
        if self.letter in self._at:
            return self._at[self.letter]
        recipe = places.recipe(self.of.claim, self._at)
        return Fraction(places.shown(places.case(self.of.claim, recipe))[self.letter])

    def posed(self, value: Fraction) -> tuple[Case, Program, bool, tuple[Fraction, Fraction]]:
        """The claim there, its program, whether that is relaxed, and what is stated, between rationals."""
        recipe = places.recipe(self.of.claim, self.at(value))
        case = places.case(self.of.claim, recipe)
        program, relaxed = states.pose(case.with_claim(self.of.at(Fraction(1))))
        states.affordable(program)
        return case, program, relaxed, enclosed(self.of.printed, case.letters)

    def excess(self, value: float) -> float:
        """The excess of the worst case over the statement, in floats; infinite if it is unbounded."""
        _, program, _, stated = self.posed(Fraction(value).limit_denominator(10**12))
        self.check_sign(program)
        return _excess(program, stated[0])

    def check_sign(self, program: Program) -> None:
        """:class:`NoRatio` where floats see the right side negative: of the ratio of the sides less is then asked than
        what is stated."""
        (before,) = (c for c in program.constraints if c.name == programs.BEFORE)
        others = tuple(c for c in program.constraints if c.name != programs.BEFORE)
        nothing = Form({}, {}, 0)
        found = states.solved(programs.excess(nothing, before.form + 1, others))[1].value
        if found is None or found > _SEEN:
            raise NoRatio(f"the right side of {self.of.claim.id} may be negative")

    def proved(self, value: Fraction) -> Interval | None:
        """A certificate of what is stated at a value of the letter."""
        case, program, _, (stated, _) = self.posed(value)
        posed, solution = states.solved(program)
        if solution.value is None:
            return None
        variants = [rounding.balanced(posed, solution), program, posed]
        known = rounding.prove(program, stated, variants)
        steps = None if known is None else factors.steps(self.of, case, known)
        if steps is None:
            return None
        return Interval(case.recipe, places.shown(case), stated, None, stated, None, steps)

    def broken(self, value: Fraction) -> Interval | None:
        """A function and a state at which what is stated fails at a value of the letter."""
        case, program, relaxed, (stated, above) = self.posed(value)
        unit = self.of.at(Fraction(1))
        found = Interval(case.recipe, places.shown(case), stated)
        seen = states.worst_instance(unit, places.recipes(self.of.claim, self.at(value)))
        if seen is not None and seen[0] > above:
            return replace(found, lower=seen[0], witness=seen[1])
        if relaxed:
            return None
        states.check_sign(self.of.claim, program)
        point = states.feasible(program, *states.solved(program))
        if point is None or point[0] <= above:
            return None
        return replace(found, lower=point[0], witness=point[1])


def _excess(program: Program, stated: Fraction) -> float:
    """The excess of a program's value over the statement, in floats; infinite if it is unbounded."""
    found = states.solved(program)[1]
    return float("inf") if found.value is None else found.value - float(stated)


def _bracket(where: _Line, largest: bool, say: Say) -> tuple[float, float]:
    """A value at which floats see the claim hold, and one beyond at which they see it fail, at most twice as far."""
    start = where.start()
    value, towards = float(start), 2.0 if largest else 0.5
    if value <= 0:
        raise ValueError(f"{where.letter} must be positive where its bound is looked for, got {value:g}")
    # From where it fails one goes back to where it holds.
    case, program, _, stated = where.posed(start)
    where.of.stated(case.instance)
    where.check_sign(program)
    step = towards if _excess(program, stated[0]) <= _SEEN else 1 / towards
    for _ in range(_DOUBLED):
        say(f"{where.letter} = {value:.6g}")
        later = value * step
        try:
            fails = where.excess(later) > _SEEN
        except NoRatio:
            raise
        except ValueError:
            if step != towards:
                raise
            # Beyond the letter's domain.
            break
        if fails == (step == towards):
            return (value, later) if step == towards else (later, value)
        value = later
    outcome = "holds as far as was looked" if step == towards else "holds at none of the values tried"
    raise ValueError(
        f"the {where.of.name} that {where.of.claim.id} states {outcome}, up to {where.letter} = {value:.6g}"
    )


def _inside(holds: float, fails: float) -> Iterator[Fraction]:
    """Values at which the claim may hold, those nearest to the threshold, and the simplest, first."""
    yield from dict.fromkeys(rounding.simplest((holds + fails) / 2, tol) for tol in _SIMPLE)
    inward = 1 if holds > fails else -1
    for away in _AWAY:
        yield (Fraction(holds) * (1 + inward * away)).limit_denominator(10**9)


def _outside(start: Fraction, largest: bool) -> Iterator[Fraction]:
    """Values beyond, the nearest first."""
    for away in _AWAY:
        yield start * (1 + away if largest else 1 - away)


def _first(
    found: Callable[[Fraction], Interval | None], values: Iterator[Fraction], deadline: float, say: Say, asked: str
) -> Interval | None:
    for value in values:
        if time.perf_counter() > deadline:
            raise ValueError("the time given was not enough: give more --seconds")
        say(asked.format(value))
        if (interval := found(value)) is not None:
            return interval
    return None
