"""Estimate the limits of long runs: many starts, random draws, floats.

A limit is supported if the runs approach it at a geometric rate; runs that do not refute nothing. A slow instance is
not evidence against the claim: if it keeps approaching the limit, it is reported and left open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from fedtheory.instances import Recipe
from fedtheory.kinds.eventually import Eventually
from fedtheory.numbers.rational import Array, to_float
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, meeting
from verify.base.faults import words
from verify.base.verdict import Verdict
from verify.evidence.record import Attained, Outcome
from verify.methods.base import Inquiry, Method, Role
from verify.search import seen

#: Recipes proposed for each one that is run, and starts of each run.
_PROPOSED, _STARTS = 40, 3
#: The factor by which runs that have not arrived are prolonged.
_LONGER = 5
#: The value of a longer run, as a share of that of a shorter one, if it is on its way.
_NEARER = 0.5
#: The size at which something has vanished, or no longer moves, relative to the largest that it was.
_NEAR = 1e-6
#: The remark on a quantity that grows and should stay bounded.
_NO_BOUND = " (runs in floats refute no bound: claim one of a step, or after T rounds)"
#: Below this share of the largest, differences are rounding and say nothing of a rate.
_ROUNDING = 1e-12


class Course(NamedTuple):
    """The final value of a quantity relative to its largest, and the factor of a step fitted to its decay."""

    end: float
    rate: float

    @property
    def arrived(self) -> bool:
        """True if it has vanished, or stopped moving, at a geometric rate."""
        return self.end <= _NEAR and self.rate < 1


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Supported by runs on the instances that meet the hypotheses; not tested where one gets no nearer, or most take
    long."""
    count = max(4, inquiry.size // 200)
    proposed = islice(inquiry.claim.instances.recipes(inquiry.rng), _PROPOSED * count)
    return _along(method, inquiry, (recipe for recipe, _ in islice(meeting(inquiry.claim, proposed), count)))


def guard(method: Method, inquiry: Inquiry, stored: Outcome) -> Outcome:
    """As :func:`run`, on the instance alone on which the slowest rate was seen."""
    if stored.attained is None:
        raise ValueError("the stored result does not record where its margin was attained")
    recipe = stored.attained.recipe
    if not hypotheses_hold(Case(inquiry.claim, recipe)):
        raise ValueError("the carried margin was seen where the hypotheses do not hold")
    return _along(method, inquiry, [recipe])


def _along(method: Method, inquiry: Inquiry, recipes: Iterable[Recipe]) -> Outcome:
    statement: Eventually = inquiry.statement
    worst, tightest, number = 0.0, None, 0
    looked: frozenset[seen.FunctionsSeen] = frozenset()
    late: list[str] = []
    for recipe in recipes:
        number += 1
        looked |= seen.of(inquiry.claim.instances.build(recipe, True).problem, statement.steps)
        found = dict(courses(inquiry, recipe, statement.steps))
        if not all(course.arrived for course in found.values()):
            before, found = found, dict(courses(inquiry, recipe, _LONGER * statement.steps))
            away = {name: course for name, course in found.items() if not course.arrived}
            if away:
                name, course = next(iter(away.items()))
                bounded = name in map(str, (quantity.expression for quantity in statement.bounded))
                after = f"after {_LONGER * statement.steps} steps, at {words(recipe)}"
                late.append(f"{name} {_end_of_run(course, bounded)} {after}{_NO_BOUND if bounded else ''}")
                if any(not course.end <= _NEARER * before[name].end for name, course in away.items()):
                    return method.found(Verdict.NOT_TESTED, f"left open: {late[-1]}", instances=number)
                continue
        for course in found.values():
            if tightest is None or course.rate > worst:
                worst, tightest = course.rate, recipe
    if 2 * len(late) > number:
        return method.found(Verdict.NOT_TESTED, f"left open: {late[0]}", instances=number)
    if not number:
        return method.found(Verdict.NOT_TESTED, "no instance met the hypotheses")
    on_the_way = f"; {len(late)} still on the way after {_LONGER * statement.steps} steps" if late else ""
    note = (
        f"{number - len(late)} runs of {statement.steps} steps from {_STARTS} starts each arrive within {_NEAR:g}; "
        f"the slowest fitted factor of a step is {worst:.3g}{on_the_way}"
    )
    note = "; ".join(filter(None, (note, seen.words(looked))))
    where = None if tightest is None else Attained(tightest, (), statement.steps)
    details = {"instances": number, "tightest": tightest, "used": ("search",), "seen": looked, "attained": where}
    return method.found(Verdict.SUPPORTED, note, margin=round(1 - worst, 9), **details)


def _end_of_run(course: Course, bounded: bool) -> str:
    """The value of a quantity at the end of a run."""
    if not np.isfinite(course.end):
        return "is not a finite number"
    return f"still grows, by {course.end:.1e} of its largest," if bounded else f"is {course.end:.1e} of its largest"


def courses(inquiry: Inquiry, recipe: Recipe, steps: int) -> Iterator[tuple[str, Course]]:
    """The course of each quantity of the statement along so many steps on one instance, by name.

    For quantities of iterations, each entry is the largest in a step.
    """
    statement: Eventually = inquiry.statement
    instance = inquiry.claim.instances.build(recipe, False)
    rng = np.random.default_rng(inquiry.seed)
    problem, state = instance.at(rng.standard_normal((_STARTS, instance.dimension)))
    found: list[list[Array]] = [[] for _ in statement.quantities]
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(steps + 1):
            points = [(instance.params, state)]
            if step:
                draw = statement.algorithm.draws(problem, instance.params, state).sample(rng, (_STARTS, 1))
                if statement.iteration is not None:
                    points = list(statement.iteration.of_step(problem, instance.params, state, draw))
                state = statement.algorithm.step(problem, instance.params, state, draw)
            elif statement.iteration is not None:
                # There is none before the first iteration.
                continue
            for values, quantity in zip(found, statement.quantities, strict=True):
                of_each = [_flat(quantity, problem, *point) for point in points]
                values.append(of_each[0] if len(points) == 1 else np.max(np.abs(of_each), axis=0))
    for quantity, values in zip(statement.quantities, found, strict=True):
        yield str(quantity.expression), _course(np.stack(values), statement, quantity)


def _flat(quantity: Quantity, problem: Any, params: Any, state: Any) -> Array:
    value = to_float(quantity.of(problem, params, state))
    return value.reshape(len(value), -1)


def _course(values: Array, statement: Eventually, quantity: Quantity) -> Course:
    """The size of ``values (steps + 1, starts, entries)``, or, where they converge, their distance to the last."""
    if not np.isfinite(values).all():
        return Course(np.inf, np.inf)
    size = np.sqrt((values**2).sum(axis=-1)).max(axis=-1)
    if quantity in statement.vanishing:
        largest = max(float(size.max()), 1.0)
        return Course(float(size[-1]) / largest, _rate(size / largest))
    largest = max(float(size.max()), 1.0)
    if quantity in statement.bounded:
        # A quantity that grows for ever still grows in the last quarter.
        before, after = np.split(size, [3 * len(size) // 4])
        return Course(max(0.0, float(after.max()) - float(before.max())) / largest, 0.0)
    away = np.sqrt(((values - values[-1]) ** 2).sum(axis=-1)).max(axis=-1) / largest
    return Course(float(away[3 * len(away) // 4 :].max()), _rate(away[: 3 * len(away) // 4]))


def _rate(sizes: Array) -> float:
    """The factor of a step, fitted to the sizes above rounding; 0 where there are too few of them."""
    last = int(np.flatnonzero(sizes > _ROUNDING).max(initial=0))
    steps = np.arange(last // 4, last + 1)
    steps = steps[sizes[steps] > 0]
    if len(steps) < 4:
        return 0.0
    return float(np.exp(np.polyfit(steps, np.log(sizes[steps]), 1)[0]))


METHOD = Method(
    "long runs",
    "limits along runs from several initial points, in floats",
    (Eventually,),
    run,
    role=Role.ALONE,
    guard=guard,
)
