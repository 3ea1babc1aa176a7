"""The best potential of a method: which sum of quadratic forms of the state contracts fastest, and how fast.

The forms are the squared distances of the parts of a state from the fixed point, together and apart, and the quantities
of the claim. A potential is the first of them plus the others with weights of at least 0. That no weights give a rate
is shown by a function and a state at which the first form does not fall by it, and no other one does either.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.one_step import OneStep
from fedtheory.randomness import expectation
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import leaving, rollout
from verify.base.faults import attributed
from verify.best import factors, places, states
from verify.best.factors import Interval, Say
from verify.pep import posing, programs, rounding
from verify.pep.bounding import posed_as_claimed
from verify.pep.gram import Form, NotLinear, scalar, value
from verify.pep.programs import BEFORE, Certificate, Constraint, Program
from verify.pep.prover import DoesNotHold, stored

#: The steps of a proof, and the variable that is the least fall.
STEP, POSITIVE, FALL = "one step of the potential", "nowhere negative: ", "fall"
#: Steps of the bisection.
_HALVED = 30
#: A decrease smaller than this is none in floats.
_SEEN = 3e-7
#: The shares of 1 - rate by which a rate that is proved may be larger.
_ROOM = (1e-5, 1e-4, 1e-3)
#: Relative errors that weights may have, the simplest first.
_SIMPLE = (3e-1, 1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-6)


@dataclass(frozen=True)
class Span:
    """Forms of a state and what is expected of them after a step, by name, the first with weight 1, and what is known;
    ``relaxed``: more is allowed than the class."""

    before: Mapping[str, Form]
    after: Mapping[str, Form]
    known: tuple[Constraint, ...]
    relaxed: bool

    def without(self, name: str) -> Span:
        """The span of the other forms."""
        before, after = ({k: f for k, f in of.items() if k != name} for of in (self.before, self.after))
        return replace(self, before=before, after=after)

    def contraction(self, weights: Mapping[str, Fraction]) -> Program:
        """The program whose value is the worst rate of the potential with these weights."""
        before, after = (_sum(forms, weights) for forms in (self.before, self.after))
        return programs.ratio(after, before, self.known)

    def descent_program(self, rate: Fraction) -> Program:
        """Maximise by how much the first form exceeds its multiple by the rate where no form falls below its own."""
        first, *_ = self.before
        forms = {name: rate * self.before[name] - self.after[name] for name in self.before}
        decreases = (Constraint(f"falls: {k}", f + value(FALL) if k == first else f) for k, f in forms.items())
        return Program(value(FALL), (*decreases, *self.known))

    def sized(self, rate: Fraction) -> Program:
        """The same for states of size one."""
        program, one = self.descent_program(rate), {name: Fraction(1) for name in self.before}
        return replace(program, constraints=(Constraint("size", _sum(self.before, one) - 1), *program.constraints))

    def positive(self, name: str) -> Program | None:
        """The program whose value is at most 0 where a form is nowhere negative; None where it is a sum of squares."""
        form = self.before[name]
        program = Program(-1 * form, self.known)
        return None if Certificate(program, {}, Fraction(0)).check() else program


def _sum(forms: Mapping[str, Form], weights: Mapping[str, Fraction]) -> Form:
    total = Form({}, {}, 0)
    for name, weight in weights.items():
        total = total + weight * forms[name] if weight else total
    return total


def span(case: Case) -> Span:
    """The forms of a claim's setting. Raise ``ValueError`` if its step, or a quantity, cannot be posed."""
    states.few(case.instance)
    quantities = {q.of: q for q in case.statement.quantities if not q.after}
    asked = _asked(case.claim, list(quantities.values()))
    with attributed(case.claim, case.instance.text):
        try:
            if posed_as_claimed(case.with_claim(asked)):
                raise ValueError(f"the hypotheses of {case.claim.id} allow other functions than those of its class")
            return _posed(case.with_claim(asked), quantities)
        except NotLinear as error:
            raise ValueError(f"{case.claim.id} is not linear in inner products and function values: {error}") from error


def _asked(claim: Claim, quantities: list[Quantity]) -> Claim:
    """A claim that involves all the quantities, before and after a step: its code is what is read."""
    before = [replace(q, expression=sympy.Symbol(f"V_{k}"), after=False) for k, q in enumerate(quantities)]
    after = [replace(q, expression=sympy.Symbol(f"V_{k}_next"), after=True) for k, q in enumerate(quantities)]
    left, right = (sympy.Add(*(q.expression for q in of)) for of in (after, before))
    return replace(claim, statement=OneStep(claim.statement.algorithm, left, right, (*after, *before)))


def _posed(case: Case, quantities: Mapping[Any, Quantity]) -> Span:
    if case.statement.algorithm.schedules:
        raise ValueError(
            f"the parameters of {case.claim.id} vary with the round, and a potential that is the same does not"
        )
    posed = posing.pose(case.setting, case.instance)
    at = case.with_instance(posed.instance)
    escaped = leaving(at, np.zeros((1, 0)))
    if escaped is not None and any(v.coefficients for v in escaped.flat):
        raise ValueError("one step leaves the domain of a quantity")
    if not posing.closed(case):
        raise ValueError(f"one step of {case.claim.id} leaves the states that are posed")
    problem, params = posed.instance.problem, posed.instance.params
    _, state = posed.instance.at(np.zeros((1, 0)))
    later, probabilities = rollout(at, problem, state, 1)
    fixed = case.statement.algorithm.fixed_point(problem, params)
    before = {name: scalar(of) for name, of in _distances(state, fixed).items()}
    after = {name: scalar(expectation(of, probabilities)) for name, of in _distances(later, fixed).items()}
    for of, quantity in quantities.items():
        now, then = of(problem, params, state), of(problem, params, later)
        # A quantity that does not depend on the state has no replica axes, and does not contract.
        if np.ndim(then):
            before[str(quantity.expression)] = scalar(now)
            after[str(quantity.expression)] = scalar(expectation(then, probabilities))
    before = _independent(before)
    if any(form.constant != 0 for forms in (before, after) for form in forms.values()):
        raise ValueError(f"a form of {case.claim.id} has a constant term, so no potential contracts")
    known = tuple(posed.constraints(True))
    return Span(before, {name: after[name] for name in before}, known, posed.wider)


def _independent(forms: Mapping[str, Form]) -> dict[str, Form]:
    """The forms that are no combinations of those before them."""
    found: dict[str, Form] = {}
    reduced: list[tuple[Any, dict[Any, Fraction]]] = []
    for name, form in forms.items():
        row = {key: Fraction(c) for key, c in (*form.entries.items(), *form.values.items()) if c != 0}
        for pivot, other in reduced:
            if factor := row.get(pivot, Fraction(0)):
                row = {k: row.get(k, Fraction(0)) - factor * other.get(k, Fraction(0)) for k in {*row, *other}}
        row = {k: c for k, c in row.items() if c != 0}
        if row:
            pivot, top = next(iter(row.items()))
            reduced.append((pivot, {k: c / top for k, c in row.items()}))
            found[name] = form
    return found


def _distances(state: Any, fixed: Any) -> dict[str, Any]:
    """Squared distances from the fixed point, by name: of each part, of means over clients, and between points."""
    apart = {name: getattr(state, name) - getattr(fixed, name) for name in state._fields}
    apart = {name: v for name, v in apart.items() if np.ndim(getattr(fixed, name))}
    points = {name: v for name, v in apart.items() if np.ndim(getattr(fixed, name)) == 1}
    found = {f"|{name} - {name}*|^2": (v**2).sum(axis=-1) for name, v in points.items()}
    clients = {name: v for name, v in apart.items() if name not in points}
    for name, v in clients.items():
        found[f"mean |{name}_i - {name}_i*|^2"] = (v**2).sum(axis=(-1, -2)) / v.shape[-2]
        if v.shape[-2] > 1:
            found[f"|mean ({name}_i - {name}_i*)|^2"] = ((v.sum(axis=-2) / v.shape[-2]) ** 2).sum(axis=-1)
    for (a, u), (b, v) in combinations(points.items(), 2):
        found[f"|{a} - {b} - ({a}* - {b}*)|^2"] = ((u - v) ** 2).sum(axis=-1)
    return found


@dataclass(frozen=True)
class Potential:
    """The rate of a potential with these weights, as an interval: at most ``rate.upper``, by its steps; and no weights
    give less than ``rate.lower``, as its witness shows."""

    weights: Mapping[str, Fraction]
    rate: Interval

    @property
    def formula(self) -> str:
        """The potential, in words."""
        return " + ".join(name if w == 1 else f"{w} {name}" for name, w in self.weights.items() if w)


def best(claim: Claim, at: places.Letters, deadline: float, say: Say) -> Potential:
    """The best potential in the span of the forms. Raise ``ValueError`` if none contracts, or cannot be posed."""
    if claim.setting.functions is None or claim.setting.algorithm is None or not claim.statement.bounding:
        raise ValueError(
            f"{claim.id} is not an inequality about the states of a method on functions: no potential is sought"
        )
    recipe = places.recipe(claim, at)
    case = places.case(claim, recipe)
    forms = span(case)
    states.affordable(forms.sized(Fraction(1)))
    say(f"potentials of {len(forms.before)} forms: {', '.join(forms.before)}")
    nonnegative, every = _nonnegative(forms), forms
    for name in every.before:
        if nonnegative.get(name, ...) is None:
            forms = forms.without(name)
    rate, weights = _searched(claim, forms, deadline, say)
    found = Interval(recipe, places.shown(case), Fraction(1))
    below = _below(every, rate, say) if not every.relaxed else None
    if below is not None:
        found = replace(found, lower=below[0], witness=below[1])
    chosen, value = _chosen(forms, rate, weights)
    chosen = {name: chosen.get(name, Fraction(0)) for name in every.before}
    program = forms.contraction(chosen)
    posed, solution = states.solved(program)
    variants = [rounding.balanced(posed, solution), program, posed]
    for proof in factors.candidates(program, variants, value, None, deadline, say):
        # The certified bound is the multiplier of the potential, whatever its sign.
        bound = proof.multipliers.get(BEFORE, Fraction(0))
        shown = {STEP: Certificate(program, proof.multipliers, bound)}
        shown |= {f"{POSITIVE}{name}": p for name, p in nonnegative.items() if p is not None and chosen[name]}
        if all(step.check() for step in shown.values()):
            return Potential(chosen, replace(found, upper=bound, steps={k: stored(p) for k, p in shown.items()}))
    raise ValueError(f"no certificate of a potential was found in the time given, where the rate is about {rate:.9g}")


def _nonnegative(forms: Span) -> dict[str, Certificate | None]:
    """Return proofs, by name, that forms not known to be nonnegative are; None where no proof was found."""
    found = {}
    for name in forms.before:
        if (program := forms.positive(name)) is not None:
            found[name] = rounding.prove(program, Fraction(0), [programs.equilibrated(program), program])
    return found


def _searched(claim: Claim, forms: Span, deadline: float, say: Say) -> tuple[float, dict[str, float]]:
    """The best rate in floats, and weights that nearly give it."""
    low, high, weights = 0.0, 1.0, None
    for _ in range(_HALVED):
        # At first for any contraction; solvers are least sure where there is none.
        middle = (low + high) / 2 if weights is not None else 1.0
        found = _weights(forms, middle)
        rate = math.inf if found is None else _rate(forms, found)
        if found is not None and rate < (high if weights is None else high - 1e-9):
            high, weights = rate, found
        else:
            low = middle
        if weights is None:
            raise ValueError(f"no potential of {claim.id} in the span of {', '.join(forms.before)} contracts")
        if time.perf_counter() > deadline or high - low < 1e-8:
            break
    say(f"the best rate is about {high:.9g}")
    assert weights is not None
    # Where there is a little room weights are simpler, and fewer.
    room = high + _ROOM[0] / 2 * (1 - high)
    for name in [*forms.before][:0:-1]:
        fewer = forms.without(name)
        found = _weights(fewer, room)
        if found is not None and _rate(fewer, found) <= high + _ROOM[0] * (1 - high):
            forms, weights = fewer, found
    return high, weights


def _weights(forms: Span, rate: float) -> dict[str, float] | None:
    """Weights with which the potential may contract by a rate; None where a solver sees that there are none."""
    solution = states.solved(forms.sized(Fraction(rate).limit_denominator(10**12)))[1]
    if solution.value is None or solution.value > _SEEN or not solution.multipliers:
        return None
    decreases = {name: max(solution.multipliers[f"falls: {name}"], 0.0) for name in forms.before}
    first, *_ = decreases
    return {name: decreases[name] / decreases[first] for name in decreases} if decreases[first] > _SEEN else None


def _rate(forms: Span, weights: Mapping[str, float]) -> float:
    """The rate of a potential, in floats; infinite where there is none."""
    value = states.solved(forms.contraction({k: Fraction(w) for k, w in weights.items()}))[1].value
    return math.inf if value is None else value


def _chosen(forms: Span, rate: float, weights: Mapping[str, float]) -> tuple[dict[str, Fraction], float]:
    """The simplest of the fractions near the weights that nearly give the rate, and the rate that they give."""
    for room in _ROOM:
        for tol in _SIMPLE:
            simple = {name: rounding.simplest(max(w, 0.0), tol) for name, w in weights.items()}
            value = _rate(forms, {name: float(w) for name, w in simple.items()})
            if value <= rate + room * (1 - rate):
                return simple, value
    raise ValueError(f"no fractions were found as weights of a potential, where the rate is about {rate:.9g}")


def _below(forms: Span, rate: float, say: Say) -> tuple[Fraction, states.AtPoints] | None:
    """A rate just below, and a function and a state at which no potential contracts by it."""
    for room in _ROOM:
        lower = Fraction(rate - room * min(rate, 1 - rate)).limit_denominator(10**9)
        say(f"is there a state where nothing contracts by {float(lower):.9g}?")
        program = forms.sized(lower)
        found = states.feasible(program, *states.solved(program))
        if found is None:
            continue
        _, point = found
        # The least decrease of the first form follows from the state.
        first, *_ = forms.before
        decrease = point.evaluate(program, forms.after[first] - lower * forms.before[first])
        point = replace(point, values={**point.values, FALL: decrease})
        if point.objective(program) > 0:
            return lower, point
    return None


def check(claim: Claim, found: Potential) -> None:
    """Raise ``ValueError`` unless both ends are shown again by the claim's own code, without a solver."""
    rate = found.rate
    case = places.case(claim, rate.recipe)
    if places.shown(case) != dict(rate.letters):
        raise DoesNotHold(f"the letters of {claim.id} have other values at the stored recipe")
    forms = span(case)
    first, *_ = forms.before
    if set(found.weights) != set(forms.before) or found.weights[first] != 1 or min(found.weights.values()) < 0:
        raise DoesNotHold("the weights are not at least 0, 1 for the first form, and of the forms of the setting")
    if rate.upper is not None:
        due = {STEP: (forms.contraction(found.weights), rate.upper)}
        positive = {name: forms.positive(name) for name, weight in found.weights.items() if weight}
        due |= {f"{POSITIVE}{name}": (p, Fraction(0)) for name, p in positive.items() if p is not None}
        if set(rate.steps) != set(due):
            raise DoesNotHold(f"the steps {', '.join(due)} were expected")
        for name, (program, bound) in due.items():
            step = rate.steps[name]
            shown = Certificate(program, step.multipliers, bound)
            # Whatever the sign of the potential, its multiplier is shown.
            whole = name != STEP or step.multipliers.get(BEFORE, Fraction(0)) == bound
            if step.bound != bound or not whole or not shown.check():
                raise DoesNotHold(f"the stored multipliers do not prove the step {name!r}")
    if rate.lower is None:
        return
    if forms.relaxed or not isinstance(rate.witness, states.AtPoints):
        raise DoesNotHold("from below there is no function of the class")
    if rate.witness.objective(forms.sized(rate.lower)) <= 0:
        raise DoesNotHold(f"at the stored vectors some potential may contract by less than {rate.lower}")
