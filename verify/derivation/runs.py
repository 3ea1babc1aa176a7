"""Check along runs in floats whether the iterations of a method are those that the setting describes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import value_of
from fedtheory.meanings import Cover, Recurs, Resting, Windows
from fedtheory.numbers.rational import to_float
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import Iteration
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.derivation import facts as meanings_of
from verify.derivation.chains import Linked
from verify.derivation.descent import Bounded

#: Relative error that rounding may make.
_ROUNDING = 1e-9
#: Error of a part of a state, relative to the largest other part, where the two are computed from each other.
_CANCELLED = 1e-13
_STARTS = 2
#: Runs that are proposed.
_PROPOSED = 2000
#: Calls after which a step has to give what it gave first.
_CALLS = 300


def differs(case: Case, seed: int, steps: int) -> str:
    """Return how a run differs from a sequence of iterations of the statement's setting; empty if it does not.

    Each iteration begins where the one before ended, the last ends where the method's own step does, its constants and
    its point are some of the setting, what is to be kept is, and the letters have the values that they have in the
    claim. Where the claim assumes that everybody is selected again and again, everybody is in every step: what steps
    draw independently leaves somebody out for as long as one likes if it does once.
    """
    claim, iteration, algorithm = case.claim, case.statement.iteration, case.statement.algorithm
    if iteration is None:
        raise ValueError(f"{claim.id} mentions no iterations")
    instance = case.floats.instance
    rng = np.random.default_rng(seed)
    problem, state = instance.at(rng.standard_normal((_STARTS, instance.dimension)))
    letters = claim.setting.bind(problem, instance.params)
    meanings = [says for h in claim.requires for says in h.says]
    recurs = any(isinstance(says, Recurs) for says in meanings)
    lengths: set[int] = set()
    for _ in range(steps):
        taken: Any = not recurs
        draw = algorithm.draws(problem, instance.params, state).sample(rng, (_STARTS, 1))
        at = state
        points = list(iteration.of_step(problem, instance.params, state, draw))
        lengths.add(len(points))
        if len(lengths) > 1 or not all(_met(part, problem, points) for part, _ in iteration.recurring):
            return "what must recur in every step does not"
        for params, point in points:
            if why := _strange(iteration, problem, params, letters):
                return why
            found = iteration.before(problem, params, point)
            if not _same(at, found):
                return "an iteration does not start where the previous one ended"
            at = iteration.after(problem, params, point)
            assert iteration.selected.met is not None
            taken = taken | np.asarray(iteration.selected.met(problem, params))
            why = outside(iteration, problem, params, point, found)
            why = why or meanings_of.contradicted(iteration, meanings, problem, params, point)
            if why:
                return why
        state = algorithm.step(problem, instance.params, state, draw)
        if not _same(state, at):
            return "the iterations of a step do not end where the step ends"
        if not np.all(taken):
            return "a client does not take part infinitely often, as the hypotheses require"
    return ""


def compared(claim: Claim, claimed: Bounded | Linked, premises: Collection[Claim], seed: int, most: int) -> int:
    """Return the number of whole runs of a claim whose iterations were seen to be those of its premises. Raise
    ``ValueError`` if they are not, or there is no run."""
    hypotheses = [h for premise in premises for h in premise.requires if h in claim.requires]
    seen, recipes = 0, claim.instances.recipes(np.random.default_rng(seed))
    for recipe, _ in islice(meeting(claim, islice(recipes, _PROPOSED)), most):
        if why := departs(Case(claim, recipe), claimed, hypotheses, seed):
            raise ValueError(f"{why}: at {recipe}")
        seen += 1
    if not seen:
        raise ValueError("no run meets the hypotheses")
    return seen


def departs(case: Case, claimed: Bounded | Linked, hypotheses: Collection[Hypothesis], seed: int) -> str:
    """Return how a whole run differs from what is ``claimed`` of it; empty if it does not.

    It goes on to the iteration k at least. Each iteration begins where the one before ended, is one of the setting, and
    meets the ``hypotheses``; who takes part is as windows say; letters have the values that they have in the claim, and
    no value of f is below its infimum.
    """
    iteration, windows = claimed.along.iteration, claimed.windows
    instance = case.floats.instance
    rng = np.random.default_rng(seed)
    problem, history = instance.at(rng.standard_normal((_STARTS, instance.dimension)))
    values = case.setting.bind(problem, case.floats.params)
    letters = {x: values[x] for x in claimed.letters}
    if broken := next((str(x) for x, value in letters.items() if x.is_integer and value != int(value)), ""):
        return f"the letter {broken} is not an integer"
    meanings = [says for h in case.claim.requires for says in h.says if not isinstance(says, Windows | Cover | Resting)]
    least = None if claimed.infimum is None else claimed.infimum(problem, case.floats.params, history)
    points = list(claimed.along.points(problem, case.floats.params, history))
    if isinstance(claimed, Linked) and (why := _rests_otherwise(claimed, letters, problem, case.floats.params, points)):
        return why
    if len(points) <= int(letters[claimed.along.last]):
        return "a run ends before the last iteration that the statement covers"
    ended: Any = None
    for j, (params, point) in enumerate(points):
        at, constants = iteration.before(problem, params, point), iteration.constants(params)
        if ended is not None and not _same(ended, at):
            return "an iteration does not start where the previous one ended"
        ended = iteration.after(problem, params, point)
        if isinstance(windows, Windows) and _otherwise(windows, letters, problem, params, constants, at, j):
            return "participation, or the beginning of rounds, is not as stated"
        if any(
            np.any(_meets(one, problem, params) == _meets(other, problem, params)) for one, other in iteration.cases
        ):
            return "an iteration falls into neither of two cases, or into both"
        why = _strange(iteration, problem, params, letters) or outside(iteration, problem, params, point, at)
        why = why or meanings_of.contradicted(iteration, meanings, problem, params, point)
        if why:
            return why
        if not all(h.met is None or h.met(problem, params) for h in hypotheses):
            return "an iteration of a run violates a hypothesis of the claim"
        if claimed.infimum is not None and _below(
            to_float(claimed.infimum.of(problem, params, point)), to_float(least)
        ):
            return "a function takes a value below its stated infimum"
    return ""


def _otherwise(
    windows: Windows, letters: Mapping[Any, Any], problem: Any, params: Any, constants: Any, at: Any, j: int
) -> bool:
    """Return True if participation before iteration j, or where rounds begin, differs from what ``windows`` states."""
    length, rounds = (int(letters[x]) for x in (windows.length, windows.rounds))
    seen, unseen = (np.asarray(who(problem, constants, at)) for who in (windows.seen, windows.unseen))
    begins = windows.begins.holds(problem, params, {})
    strange = (j == 0 and seen.any()) or (j >= length * rounds and unseen.any()) or begins is not (j % length == 0)
    return bool(strange)


def _rests_otherwise(
    claimed: Linked, letters: Mapping[Any, Any], problem: Any, run: Any, points: Sequence[tuple[Any, Any]]
) -> str:
    """Return how participation differs from what hypotheses say of it; empty if it does not."""
    windows, rests, iteration = claimed.windows, claimed.rests, claimed.along.iteration
    if windows is None and rests is None:
        return ""
    active = np.array([_meets(iteration.selected, problem, params) for params, _ in points])
    if windows is not None:
        length, rounds = (int(letters[x]) for x in (windows.length, windows.rounds))
        begins = [windows.begins.holds(problem, params, {}) for params, _ in points]
        whole, span = active[::length], length * rounds
        same = all(np.array_equal(active[j], whole[j // length]) for j in range(len(active)))
        blocks = [active[j : j + span] for j in range(0, len(active) - span + 1, span)]
        if not same or begins != [j % length == 0 for j in range(len(points))]:
            return "clients do not take part in whole rounds, or rounds begin elsewhere"
        if not all(block.any(axis=0).all() for block in blocks):
            return "somebody takes part in no round of a window"
    if rests is not None:
        since, last = int(letters[rests.since]), int(letters[claimed.along.last])
        own = active[:, getattr(run, iteration.each)]
        if not 0 <= since < last or not own[since] or own[since + 1 : last + 1].any():
            return "the client does not rest since the iteration that is stated"
    return ""


def _meets(case: Hypothesis, problem: Any, params: Any) -> Any:
    assert case.met is not None
    return np.asarray(case.met(problem, params), dtype=bool)


def _below(value: Any, least: Any) -> bool:
    return bool(np.any(value < least - _ROUNDING * (1 + np.abs(value))))


def _strange(iteration: Iteration, problem: Any, params: Any, letters: Mapping[Any, Any]) -> str:
    """Return how the constants of an iteration differ from those of the setting or of the claim; empty if
    they do not.
    """
    if not iteration.admits(problem, params):
        return "the constants of a run are not among those that the setting admits"
    for of, _ in iteration.setting.hints.signs:
        if np.min(to_float(np.asarray(of(problem, params)))) < -_ROUNDING:
            return "the constants of a run do not have the signs stated in the setting"
    # An iteration along a run is of all clients at once, and letters of each are arrays.
    sources = {letter: source for letter, source in iteration.setting.sources.items() if letter in letters}
    if any(not _close(value_of(sources[x], problem, params), letters[x]) for x in sources):
        return "a letter of the claim changes its value in an iteration"
    return ""


def remembers(case: Case, seed: int) -> bool:
    """Return True if the method's step can return different results for the same state and draw."""
    algorithm = case.statement.algorithm
    instance, rng = case.floats.instance, np.random.default_rng(seed)
    problem, state = instance.at(rng.standard_normal((1, instance.dimension)))
    draw = algorithm.draws(problem, instance.params, state).sample(rng, (1, 1))
    found = (algorithm.step(problem, instance.params, state, draw) for _ in range(_CALLS))
    first = next(found)
    return not all(_same(first, other) for other in found)


def _met(case: Hypothesis, problem: Any, points: Collection[tuple[Any, Any]]) -> bool:
    """Return True if a case occurs, in each replica, in at least one of the iterations of a step."""
    assert case.met is not None
    taken: Any = False
    for params, _ in points:
        taken = taken | np.asarray(case.met(problem, params))
    return bool(np.all(taken))


def outside(iteration: Iteration, problem: Any, params: Any, point: Any, at: Any) -> str:
    """Return which property of the setting's points an iteration violates; empty if none."""
    kept = to_float(iteration.kept(problem, iteration.constants(params), at))
    scale = 1 + max(float(np.abs(to_float(part)).max()) for part in at) ** 2
    if kept.max() > _ROUNDING * scale:
        return "a state of a run does not preserve what its iterations rely on"
    known = iteration.setting.hints.known
    if known is not None and to_float(known(problem, params, point)).max() > _ROUNDING * scale:
        return "an iteration of a run is not among those that the setting covers"
    return ""


def _same(a: Any, b: Any) -> bool:
    """Return True if two states agree up to rounding, relative to the largest part, since parts may cancel."""
    of_others = _CANCELLED * max(_size(part) for state in (a, b) for part in state)
    return all(_close(x, y, of_others) for x, y in zip(a, b, strict=True))


def _close(a: Any, b: Any, besides: float = 0.0) -> bool:
    x, y = to_float(np.asarray(a)), to_float(np.asarray(b))
    return bool(np.abs(x - y).max() <= _ROUNDING * (1 + max(_size(x), _size(y))) + besides)


def _size(a: Any) -> float:
    return float(np.abs(to_float(np.asarray(a))).max())
