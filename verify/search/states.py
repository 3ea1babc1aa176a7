"""The worst states of one instance, and which of them contradict a claim beyond doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.rational import Array, Undefined, to_float
from fedtheory.numbers.rational import exact as exactly
from verify.base.case import Case
from verify.base.evaluate import (
    NoNumber,
    NoStep,
    has_rounds,
    hypotheses_hold,
    is_without_design,
    leaving,
    sides,
    sides_along,
    tree_size,
)
from verify.comparisons import naming, second_moments
from verify.comparisons.deciding import finite, is_open, violated
from verify.comparisons.exact import ROUNDS, Compared, Coordinates, is_enumerable, parts
from verify.evidence.counterexamples import Counterexample
from verify.search import refutation, spectral, vanishing
from verify.search.climbing import ascend, climb


@dataclass(frozen=True)
class StateLimits:
    """The sizes up to which the states of an instance are searched."""

    clients: int = 4  # an instance with more is skipped if a step has more than `draws`
    draws: int = 150  # of one step
    exact_coordinates: int = 6  # states with more are not solved for in fractions, which takes too long
    few_coordinates: int = 20  # with more a random search has little power, and gradients always follow it
    gradients_every: int = 8  # with fewer they follow it one in this many times
    directions: int = 12  # of states found before, and random ones, that are followed far away and near


LIMITS = StateLimits()
#: Sizes of far states, at which code may do otherwise.
FAR = (1e3, 1e8)
#: Distances from the optimum of near states, one at each instance; and the distance of those in fractions.
NEARBY = (1e-5, 1e-2, 1e-6)
NEAR = Fraction(1, 10**8)
#: Ratios above 1 by more than this are violations to confirm exactly.
SUSPECT = 1e-9
#: The smallest excess over 1 of a ratio that is trusted in floats: small differences of large numbers lose digits.
BLURRED = 0.02
#: The least ratio given to a violation that exact arithmetic has seen, however small.
VIOLATED = 1 + 1e-8


@dataclass(frozen=True)
class Finding:
    """The result at one instance: the ratio left/right at its worst state ``theta``, after ``rounds`` rounds.

    For equalities the ratio is the relative residual plus 1. ``method``: how the state was found.
    """

    ratio: float
    theta: Array
    rounds: int
    method: str


def examine(case: Case, rng: np.random.Generator) -> list[Finding] | None:
    """The worst states of one instance, worst first; None if it does not exist or a hypothesis fails."""
    if not case.exists:
        return None
    try:
        # Methods that diverge leave the floats; sides that are not finite are looked at.
        with np.errstate(all="ignore"):
            return _findings(case, rng) if is_examined(case) else None
    except (ArithmeticError, Undefined):
        # A quantity is not defined there, and no hypothesis says so; or code asks which of two roots is the larger, and
        # they may be the same.
        return None


def is_examined(case: Case) -> bool:
    """Return True if the hypotheses hold at an exact instance, and a step can be followed there."""
    return hypotheses_hold(case) and has_rounds(case, 1) and not too_many(case)


def find_undefined_side(case: Case, findings: Iterable[Finding]) -> tuple[str, str] | None:
    """Return a side that is undefined in fractions at an existing instance, and where; or None.

    At two simple states, where what divides by zero does so at both, and at those of the findings where a side is not a
    finite float: not for want of a step, since at its optimum a method may stop. What overflows in floats alone is not
    such side: nothing is known of it.
    """
    try:
        if not is_examined(case):
            return None
        size = case.dimension
    except (ValueError, ArithmeticError):
        return None
    simple = [(tuple(Fraction(v) for _ in range(size)), 1) for v in (0, 1)]
    found = [(refutation.nearest(f.theta), f.rounds) for f in findings if not np.isfinite(f.ratio)]
    undefined, moving = 0, False
    for k, (point, rounds) in enumerate((*simple, *found)):
        try:
            with np.errstate(over="raise", invalid="ignore"):
                list(parts(case, point, rounds))
        except Undefined as error:
            undefined += 1
            # Every state may be an optimum, as of a function that is constant, where a method may stop.
            moving = moving or not (isinstance(error, NoStep) and _is_stationary(case, point))
            whole = moving and undefined == len(simple) == k + 1
            if isinstance(error, NoNumber) or whole or (k >= len(simple) and not isinstance(error, NoStep)):
                return str(error), case.instance.text + naming.clause(case, point)
        except (ValueError, ArithmeticError):
            continue
    return None


def _is_stationary(case: Case, point: Coordinates) -> bool:
    """Return True if the average has the gradient 0 at all points of a state."""
    try:
        problem, state = case.start(exactly([list(point)]) if point else np.zeros((1, 0), dtype=object))
        points = [part for part in state if np.ndim(part) and np.shape(part)[-1:] == (problem.d,)]
        slopes = [problem.f.gradient(x[..., None, :]).sum(axis=-2) for x in points if np.ndim(x) < 4]
    except (ValueError, ArithmeticError, AttributeError, TypeError):
        return False
    return bool(slopes) and not any(np.any(slope != 0) for slope in slopes)


def too_many(case: Case) -> bool:
    """Return True if one step of many clients has more draws than can be enumerated, or directions that cannot be."""
    if case.problem is None or case.statement.algorithm is None:
        return False
    if case.problem.n > LIMITS.clients:
        return is_without_design(case) or tree_size(case, 1) > LIMITS.draws
    return is_without_design(case)


def _findings(case: Case, rng: np.random.Generator) -> list[Finding]:
    if pointwise(case.claim):
        return _evaluate_points(case, rng)
    escape = _escapes(case.floats, rng)
    if escape is not None:
        return [escape]
    found = _worst_states(case.floats, _rounds(case), rng)
    if is_strict(case.claim):
        # Where both sides vanish no ratio is larger, and none is reported.
        centre = np.zeros(case.floats.dimension)
        found += [Finding(1.0, centre, rounds, "exact") for rounds in _rounds(case)]
    if at := _long_rounds(case):
        long = list(_long_run(case.floats, at))
        # Violations, and near ones, are of maps that runs in fractions follow too.
        if max((f.ratio for f in long), default=0) <= 1 - SUSPECT or second_moments.is_followed(case, max(at)):
            found += long
    return sorted(found, key=lambda f: -f.ratio)


def is_strict(claim: Claim) -> bool:
    """Return True if one of the statement's comparisons is strict."""
    return any(comparison.relation == "<" for comparison in claim.statement.comparisons)


def pointwise(claim: Claim) -> bool:
    """Return True if the statement is decided by evaluation at points rather than by maximising a ratio over states."""
    return claim.statement.pointwise or claim.setting.of_constants


def _points(claim: Claim, dimension: int, rng: np.random.Generator) -> Iterator[Coordinates]:
    """Rational points that expose special cases: 0, the all-ones and unit vectors, and random rationals, small ones
    and some far away and near."""
    yield tuple(Fraction(0) for _ in range(dimension))
    if claim.statement.scope in (Scope.LETTERS, Scope.LIMIT) or dimension == 0:
        return
    yield tuple(Fraction(1) for _ in range(dimension))
    yield tuple(Fraction(int(i == 0)) for i in range(dimension))
    if claim.statement.scope is Scope.COMPRESSOR:
        yield tuple(Fraction(4, 3) for _ in range(dimension))
        yield tuple(Fraction(-4, 3) * Fraction(2) ** (3 * i) for i in range(dimension))
    for scale in (1, 1, 1, Fraction(FAR[-1]), NEAR):
        yield tuple(scale * Fraction(int(v), 2) for v in rng.integers(-6, 7, dimension))


def _evaluate_points(case: Case, rng: np.random.Generator) -> list[Finding]:
    found = []
    for drawn in _points(case.claim, case.instance.dimension, rng):
        point = vanishing.onto(case, drawn)
        for compared in parts(case, point, 1):
            if len(compared.left):
                theta = np.array([float(v) for v in point])
                found.append(Finding(_ratio(compared), theta, 1, "exact"))
    return sorted(found, key=lambda f: -f.ratio)


def ratio_at(case: Case, point: Coordinates, rounds: int) -> float:
    """The largest ratio at one state of an exact instance, as the search that saw it there measures it.

    Raise ``ValueError`` if the claim says nothing after so many rounds.
    """
    if pointwise(case.claim):
        return _largest_ratio(case, point, 1)
    theta = np.array([[float(v) for v in point]])
    if theta.shape[1] != case.floats.dimension:
        raise ValueError(f"a state of {case.claim.id} has {case.floats.dimension} coordinates there")
    found: list[float] = []
    if rounds in _rounds(case):
        compared = sides(case.floats, theta, rounds)
        found = [float(spectral.ratio(*(np.asarray(side, dtype=float) for side in both))[0]) for both in compared]
        if is_strict(case.claim) and not theta.any():
            found.append(1.0)
    elif at := _long_rounds(case):
        found = [f.ratio for f in _long_run(case.floats, at) if f.rounds == rounds]
    if not found:
        raise ValueError(f"{case.claim.id} makes no statement after {rounds} rounds there")
    return max(found)


def _largest_ratio(case: Case, point: Coordinates, rounds: int) -> float:
    """Return the largest ratio at an exact state; 0 if the claim does not cover it."""
    at = vanishing.onto(case, point)
    return max((_ratio(c) for c in parts(case, at, rounds) if len(c.left)), default=0.0)


def _ratio(compared: Compared) -> float:
    """Worst entry: left/right for inequalities, 1 + |left - right|/scale for equalities (0 when exactly equal)."""
    _, left, right, relation, _ = compared
    if any(is_open(a, b, relation) for a, b in zip(left, right, strict=True)):
        # More digits are looked at where a violation would be confirmed.
        return VIOLATED
    if relation == "==":
        if not any(violated(a, b, "==") for a, b in zip(left, right, strict=True)):
            return 1.0
        try:
            gap = max(abs(float(a - b)) for a, b in zip(left, right, strict=True))
            scale = max(max(abs(float(v)) for v in left), max(abs(float(v)) for v in right), 1e-300)
        except OverflowError:
            gap, scale = 0.0, 1.0
        return max(1 + gap / scale, VIOLATED)
    ratios = []
    for a, b in zip(left, right, strict=True):
        if _middle(b) == 0 and _middle(a) < 0:
            # Next to nothing, which is something: a left side that vanishes says nothing.
            ratios.append(float(np.finfo(float).tiny))
            continue
        try:
            ratio = float(spectral.ratio(np.array(float(a)), np.array(float(b))))
        except OverflowError:
            # Beyond the floats: which is larger is decided exactly, by how much is not computed.
            ratio = 1.0
        ratios.append(max(ratio, VIOLATED) if violated(a, b, relation) else min(ratio, 1.0))
    return max(ratios)


def _middle(value: Any) -> Any:
    return value.middle if isinstance(value, Interval) else value


def _rounds(case: Case) -> tuple[int, ...]:
    if not case.statement.horizon:
        return (1,)
    asked = (T for T in ROUNDS if T >= case.statement.since)
    return tuple(T for T in asked if is_enumerable(case, T) and has_rounds(case, T))


def _escapes(case: Case, rng: np.random.Generator) -> Finding | None:
    theta = np.concatenate([np.zeros((1, case.dimension)), rng.integers(-2, 3, (2, case.dimension))])
    residual = leaving(case, theta)
    if residual is None:
        return None
    size = abs(residual).max(axis=1, initial=0.0)
    worst = int(size.argmax())
    return Finding(float("inf"), theta[worst], 1, "exact") if size[worst] > 1e-9 else None


def _worst_states(case: Case, at: tuple[int, ...], rng: np.random.Generator) -> list[Finding]:
    """The worst states of each comparison after each of these numbers of rounds."""
    evaluated = _AtBasis(case, at)
    return [
        finding
        for rounds in at
        for part in range(len(case.statement.comparisons))
        for finding in _worst_state(case, rounds, part, evaluated, rng)
    ]


class _AtBasis:
    """Both sides at the states by which forms are fitted: the same after any number of rounds, of any comparison."""

    def __init__(self, case: Case, at: tuple[int, ...]) -> None:
        self._case = case
        self._stepping = tuple(T for T in at if T) if case.statement.horizon else ()
        self._found: dict[int, list[tuple[Array, Array]]] = {}

    def sides(self, theta: Array, rounds: int) -> list[tuple[Array, Array]]:
        """The sides of all comparisons, of the same ``theta`` each time."""
        if rounds not in self._found and rounds in self._stepping:
            try:
                each = sides_along(self._case, theta, self._stepping)
                self._found = dict(zip(self._stepping, map(_floats, each), strict=True))
            except Exception:
                # After more rounds; it is reported when these are evaluated.
                self._stepping = ()
        if rounds not in self._found:
            self._found[rounds] = _floats(sides(self._case, theta, rounds))
        return self._found[rounds]


def _floats(found: Iterable[tuple[Any, Any]]) -> list[tuple[Array, Array]]:
    return [(np.asarray(left, dtype=float), np.asarray(right, dtype=float)) for left, right in found]


def _worst_state(case: Case, rounds: int, part: int, evaluated: _AtBasis, rng: np.random.Generator) -> list[Finding]:
    """The worst state of one comparison; before it one where a side is not a number, if such a state is met."""
    size = case.dimension

    def both(theta: Array) -> tuple[Array, Array]:
        left, right = sides(case, theta, rounds)[part]
        return np.asarray(left, dtype=float), np.asarray(right, dtype=float)

    probe = np.concatenate([np.zeros((1, size)), rng.standard_normal((2, size))])
    broken = ~np.isfinite(np.sum(both(probe), axis=0))
    if broken.any():
        # Fractions show whether it is a number.
        undefined = Finding(np.inf, probe[broken][0], rounds, "exact")
        if broken[1:].any():
            return [undefined]
        # At the fixed point alone, as where a step is divided by the norm of a momentum. The draws of other instances
        # stay as they are.
        theta, ratio = climb(_where_finite(both), size, rng.spawn(1)[0])
        return [undefined, Finding(ratio, theta, rounds, "search")]
    forms = (
        spectral.forms(lambda theta: evaluated.sides(theta, rounds)[part], size) if case.instance.quadratic else None
    )
    if forms is not None:
        worst = spectral.worst(*forms)
        return [Finding(worst.ratio, worst.theta, rounds, "spectral")]
    # A deep tree of draws makes every state dear.
    theta, ratio = climb(both, size, rng, size=36 if rounds <= 1 else 12)
    if rounds <= 1 and ratio <= 1 and (len(theta) > LIMITS.few_coordinates or not rng.integers(LIMITS.gradients_every)):
        theta, ratio = max((theta, ratio), ascend(both, theta), key=lambda found: found[1])
    return [Finding(ratio, theta, rounds, "search")]


def _where_finite(both: Callable[[Array], tuple[Array, Array]]) -> Callable[[Array], tuple[Array, Array]]:
    """The sides as they are where both are finite, and 0 elsewhere, which is never a violation."""

    def finite_sides(theta: Array) -> tuple[Array, Array]:
        left, right = np.broadcast_arrays(*both(theta))
        good = np.isfinite(left + right)
        return np.where(good, left, 0.0), np.where(good, right, 0.0)

    return finite_sides


def _long_rounds(case: Case) -> tuple[int, ...]:
    """The many rounds after which the bound is followed by second moments: none where steps are no linear maps."""
    if not second_moments.applies(case.floats):
        return ()
    at = tuple(T for T in second_moments.rounds(case.floats) if has_rounds(case, T))
    return at if at and second_moments.may_be_followed(case, max(at)) else ()


def _long_run(case: Case, at: tuple[int, ...]) -> Iterator[Finding]:
    """The worst initial states after these rounds, where the bound is a quadratic form of them."""
    # Where the forms grow beyond the floats there are fewer of them.
    for rounds, (left, error) in zip(at, second_moments.left_forms(case, at), strict=False):

        def both(theta: Array, left: Array = left, rounds: int = rounds) -> tuple[Array, Array]:
            value = np.einsum("mi,ij,mj->m", theta, left, theta)
            return value, np.asarray(second_moments.bound_at(case, theta, rounds), dtype=float)

        forms = spectral.forms(both, case.dimension)
        if forms is not None:
            worst = spectral.worst(*forms)
            here, allowed = (float(side[0]) for side in both(worst.theta[None]))
            # After many rounds little is left: a difference within the rounding of the form is none.
            rounding = max(1e-12 * float(abs(left).max(initial=0)), error) * float((worst.theta**2).sum())
            # So is what every round adds to it: a rate that is wrong in its thirteenth digit is not seen in floats.
            beyond = here - allowed > rounding and worst.ratio - 1 > 1e-13 * rounds
            ratio = worst.ratio if beyond else min(worst.ratio, 1.0)
            yield Finding(ratio, worst.theta, rounds, "spectral")


def elsewhere(case: Case, found: list[Finding], scales: Iterable[Any]) -> Iterator[Finding]:
    """The worst states of other sizes, in fractions where a size is one, where both sides are quadratic there.

    Elsewhere those in the directions of what was ``found`` and of a few more.
    """
    if pointwise(case.claim):
        return
    for scale in scales:
        exact = isinstance(scale, Fraction)
        at = case if exact else case.floats
        size = at.dimension
        for part in range(len(case.statement.comparisons)):

            def both(theta: Array, part: int = part, at: Case = at, scale: Any = scale) -> Any:
                rows = exactly(theta) if isinstance(scale, Fraction) else theta
                return sides(at, rows * scale, 1)[part]

            try:
                with np.errstate(all="ignore"):
                    solvable = at.instance.quadratic and not (exact and size > LIMITS.exact_coordinates)
                    forms = spectral.forms(both, size) if solvable else None
                    if forms is None:
                        worst = _worst_direction(both, found, size)
            except (ArithmeticError, Undefined):
                continue
            if forms is not None:
                if scale > 1:
                    # Far away only directions count.
                    for form in forms:
                        form[0, :] = form[:, 0] = 0
                worst = spectral.worst(*forms)
            if scale in NEARBY and worst.ratio <= 1 + BLURRED:
                continue
            yield Finding(worst.ratio, worst.theta * float(scale), 1, "spectral" if forms else "search")


def _worst_direction(both: Any, found: list[Finding], size: int) -> spectral.Worst:
    """Return the state, of a few states of size one, at which the sides contradict a claim most."""
    states = [
        f.theta / abs(f.theta).max() for f in found[: LIMITS.directions] if len(f.theta) == size and f.theta.any()
    ]
    fixed = np.random.default_rng(0).choice([-1.0, 0.0, 0.0, 1.0], (LIMITS.directions, size))
    rows = np.array([*states, *fixed])
    ratios = np.nan_to_num(spectral.ratio(*(to_float(side) for side in both(rows))), nan=np.inf)
    worst = int(ratios.argmax())
    return spectral.Worst(float(ratios[worst]), rows[worst])


def violation(case: Case, seed: int = 0) -> Counterexample | None:
    """A confirmed counterexample built from this recipe, or None."""
    findings = examine(case, np.random.default_rng(seed))
    return first_confirmed(case, findings or [])


def floats(claim: Claim, recipes: Iterable[Recipe]) -> str:
    """The places where floats take part in the numbers of a claim at the first instance; empty if none do."""
    for recipe in islice(recipes, 1):
        case = Case(claim, recipe)
        point = tuple(Fraction(i + 2, 3) for i in range(case.dimension))
        try:
            compared = list(parts(case, point, 1))
        except (ValueError, ArithmeticError):
            return ""
        # A compressor's code is compared with itself in floats, and these are the numbers of that.
        kept = [] if claim.statement.scope is Scope.COMPRESSOR else compared
        for value in (v for c in kept for side in (c.left, c.right) for v in side):
            if finite(value) and isinstance(value, Interval | float) and (where := Interval.of(value).where):
                return where
    return ""


def first_confirmed(case: Case, findings: list[Finding], tied: bool = False) -> Counterexample | None:
    """The counterexample after the fewest rounds among the findings that exact arithmetic confirms, or None.

    ``tied``: what is nearly attained is looked at too.
    """
    # Equality contradicts a strict inequality.
    strict = is_strict(case.claim)
    # After many rounds exact numbers are dear.
    least = {False: 1 + SUSPECT, True: 1 - SUSPECT}
    suspects = sorted(
        (f for f in findings if f.ratio > least[strict or (tied and f.rounds <= 1)]), key=lambda f: f.rounds
    )
    confirmed = (confirm(case, f) for f in suspects)
    return next((c for c in confirmed if c is not None), None)


def settled(case: Case, finding: Finding) -> Finding:
    """The finding, with the exact ratio where the float one exceeds 1 and exact arithmetic showed no violation."""
    if finding.ratio <= 1 + SUSPECT:
        return replace(finding, ratio=min(finding.ratio, 1.0))
    return with_exact_ratio(case, finding)


def with_exact_ratio(case: Case, finding: Finding) -> Finding:
    """The finding with the exact ratio at its state, at most 1: a float one next to 1 may be all rounding."""
    try:
        found = _largest_ratio(case, refutation.nearest(finding.theta), finding.rounds)
    except (ArithmeticError, Undefined):
        found = 1.0
    return replace(finding, ratio=min(found, 1.0))


def confirm(case: Case, finding: Finding) -> Counterexample | None:
    """The finding's violation in exact arithmetic, at the simplest nearby rational state; None if it was rounding."""
    precise = refutation.refute(case.anew(), refutation.nearest(finding.theta), finding.rounds)
    if precise is None:
        return None
    simple = (refutation.refute(case.anew(), point, finding.rounds) for point in refutation.roundings(finding.theta))
    return next((found for found in simple if found is not None), precise)
