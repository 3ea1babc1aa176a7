"""Expectations after many rounds of a run whose steps are affine maps of the whole state, for every draw.

On one problem a step is w <- B_k w with probability p_k, where w is 1 followed by all entries of the state, and a
quadratic quantity after T rounds is a quadratic form of w at the start. The code is run on entries that are not known
(:mod:`fedtheory.numbers.polynomials`), so that this holds of all states, or ``NotPolynomial`` says that it does not.

Of a state only its coordinates about the optimum may be enough (:mod:`verify.comparisons.second_moments`): here steps
may move the optimum, as with stochastic gradients, and what ``init`` computes may become anything. Parts that are the
same along all runs, such as a counter of rounds, are clocks: they are known, and code may look at them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.polynomials import NotPolynomial, terms_of, unknowns, unseen
from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import Array, evaluate, exact, is_exact, to_float
from fedtheory.numbers.symbols import T
from verify.base.case import Case
from verify.base.evaluate import params_after, rollout, tree_size
from verify.comparisons import second_moments
from verify.comparisons.starts import generic

#: Rounds that are followed one by one.
LAST = 100
#: Operations up to which they are followed in fractions; beyond these in enclosures.
_FRACTIONS = 3 * 10**5
#: Rounds of a run in fractions that are compared with the maps.
_ROUNDS = 3
#: Products of floats of a round, for all starts and draws, at most.
_PRODUCTS = 4 * 10**6


@dataclass(frozen=True)
class Layout:
    """The parts of states ``(M, K, ...)`` as entries side by side, clocks left out."""

    state: Any
    clocks: frozenset[str] = frozenset()

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the parts that are no clocks, without replicas."""
        fields = zip(self.state._fields, self.state, strict=True)
        return {name: np.shape(part)[2:] for name, part in fields if name not in self.clocks}

    @property
    def size(self) -> int:
        """The number of entries."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def flat(self, state: Any) -> Array:
        """The entries of states ``(M, K, ...)``: ``(M, K, size)``."""
        rows = np.shape(state[0])[:2]
        parts = [np.asarray(getattr(state, name)).reshape(*rows, -1) for name in self.shapes]
        return np.concatenate(parts, axis=-1) if parts else np.zeros((*rows, 0), dtype=int)

    def states(self, entries: Array, at: Any) -> Any:
        """The states with these ``entries (M, size)``, and the clocks as they are ``at`` a state."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes.values()])
        pieces = np.split(entries, ends[:-1], axis=-1) if self.shapes else []
        rows = len(entries)
        made = {n: p.reshape(rows, 1, *s) for (n, s), p in zip(self.shapes.items(), pieces, strict=True)}
        for name in self.clocks:
            part = np.asarray(getattr(at, name))[:1, :1]
            made[name] = np.broadcast_to(part, (rows, 1, *part.shape[2:]))
        return type(self.state)(**made)

    def same_clocks(self, one: Any, two: Any) -> bool:
        """Return True if the clocks of states are alike in all replicas."""
        pairs = ((np.asarray(getattr(one, n)), np.asarray(getattr(two, n))[:1, :1]) for n in self.clocks)
        return all(bool((a == b).all()) for a, b in pairs)


def layout(case: Case, problem: Any, begun: Any) -> Layout:
    """The layout of states with as many clocks as there are, where runs begin at several states ``begun (M, 1, ...)``.

    A part is one if all runs begin with the same, and a step leaves it the same whatever the others are.
    """
    found = Layout(begun, frozenset(n for n, v in zip(begun._fields, begun, strict=True) if _is_one(v)))
    while found.clocks:
        entries = np.resize(np.array([v for v in generic(found.size + 3)[0]]), (len(begun[0]), found.size))
        if not is_exact(*begun):
            entries = entries.astype(float)
        try:
            later, _ = rollout(case, problem, found.states(entries, begun), 1)
            lost = {name for name in found.clocks if not _is_one(getattr(later, name))}
        except (ValueError, ArithmeticError, TypeError):
            # Zeros of integers that a step adds to, say.
            lost = set(found.clocks)
        if not lost:
            break
        found = Layout(begun, found.clocks - lost)
    return found


def _is_one(values: Any) -> bool:
    """Return True if all replicas are the same."""
    found = np.asarray(values)
    return bool((found == found[:1, :1]).all())


# In fractions


@dataclass(frozen=True)
class _Step:
    """The maps ``B (K, N, N)`` of a round, with the probabilities ``p (K,)``, and a state after it, for its clocks."""

    B: Array
    p: Array
    later: Any


def sides_after(case: Case, theta: Array, rounds: int) -> list[tuple[Array, Array]]:
    """(left, right) of each comparison after so many rounds from one start ``theta (1, dimension)`` in fractions.

    Raise ``NotPolynomial`` unless a step is an affine map of the state, and every quantity a quadratic polynomial of
    it.
    """
    if not 0 < rounds <= LAST or not case.statement.horizon or not is_exact(theta):
        raise NotPolynomial(f"{case.claim.id} is not followed through {rounds} rounds there")
    problem, begun = case.start(np.concatenate([theta, generic(theta.shape[1]) + theta]))
    shape = layout(case, problem, begun)
    problem, begun = case.start(theta)
    steps = _steps(case, problem, begun, shape, rounds)
    _check(case, problem, begun, shape, steps)
    last = steps[-1].later
    values: dict[Any, Any] = {**case.setting.bind(problem, case.params), T: rounds}
    first = np.concatenate([exact([1]), exact(shape.flat(begun)[0, 0])])
    for quantity in case.statement.quantities:
        if not quantity.after:
            params = params_after(case, problem, 0)
            values[quantity.expression] = quantity.of(problem, params, begun)
            continue
        Q = _form(case, problem, quantity, shape, last, rounds)
        values[quantity.expression] = np.array([[first @ _pulled(steps, Q) @ first]], dtype=object)
    found = []
    for comparison in case.statement.comparisons:
        both = (np.asarray(evaluate(side, values)) for side in (comparison.left, comparison.right))
        left, right = (np.broadcast_to(side, (1, 1))[:, 0] for side in both)
        found.append((left, right))
    return found


def course(case: Case, theta: Array, last: int) -> list[tuple[Array, Array]]:
    """(left, right) of a bound after each of 1, ..., ``last`` rounds from starts ``theta (M, dimension)`` of an exact
    instance, in floats, each ``(M,)``.

    ``NotPolynomial`` as :func:`sides_after`, where parameters vary, and where that would take too long.
    """
    if case.statement.algorithm.schedules:
        raise NotPolynomial(f"the parameters of {case.claim.id} vary")
    theta = exact(theta)
    problem, begun = case.start(np.concatenate([theta[:1], generic(theta.shape[1]) + theta[:1]]))
    shape = layout(case, problem, begun)
    before = problem
    problem, begun = case.start(theta)
    posed = problem is not before
    if not all(_is_one(getattr(begun, name)) for name in shape.clocks):
        raise NotPolynomial(f"a clock of {case.claim.id} begins at several times")
    coordinates = to_float(theta) if posed else np.zeros((len(theta), 0))
    first = np.concatenate([np.ones((len(theta), 1)), coordinates, to_float(shape.flat(begun)[:, 0])], axis=1)
    if len(theta) * tree_size(case, 1) * first.shape[1] ** 3 > _PRODUCTS:
        raise NotPolynomial(f"there are too many moments of {case.claim.id}")
    one = problem
    if posed:
        # Where a run begins is fixed, and what the starts say is where the optimum is: unknown, as the state is.
        try:
            with unseen():
                one, _ = case.start(unknowns(0, theta.shape[1])[None])
        except Exception as error:
            raise NotPolynomial(f"{case.claim.id} is not posed about an unknown optimum: {error}") from error
    # The maps are of any start; runs of the first one are compared with them.
    known = coordinates.shape[1]
    steps = _steps(case, one, type(begun)(*(part[:1] for part in begun)), shape, last, known)
    M, found = first[:, :, None] * first[:, None, :], []
    values: dict[Any, Any] = {
        key: np.broadcast_to(to_float(v), (len(theta), 1))[:, 0]
        for key, v in case.setting.bind(problem, case.params).items()
    }
    forms = {}
    for quantity in case.statement.quantities:
        if quantity.after:
            Q = _form(case, one, quantity, shape, steps[-1].later, last, known)
            forms[quantity.expression] = to_float(Q)
        else:
            of = to_float(quantity.of(problem, case.params, begun))
            values[quantity.expression] = np.broadcast_to(of, (len(theta), 1))[:, 0]
    floats = {id(step): (to_float(step.B), to_float(step.p)) for step in steps}
    ((left, _, right),) = case.statement.comparisons
    for rounds, step in enumerate(steps, 1):
        B, p = floats[id(step)]
        images = B[:, None] @ M @ B.transpose(0, 2, 1)[:, None]
        M = np.einsum("k,kmij->mij", p, images)
        at = {**values, **{e: (Q * M).sum(axis=(1, 2)) for e, Q in forms.items()}, T: rounds}
        both = (to_float(evaluate(side, at)) for side in (left, right))
        a, b = (np.broadcast_to(side, (len(theta),)) for side in both)
        found.append((a, b))
    return found


def _steps(case: Case, problem: Any, begun: Any, shape: Layout, rounds: int, known: int = 0) -> list[_Step]:
    """The maps of each round; of rounds with the same clocks they are the same.

    Of unknowns of a problem, as many as are ``known``, they are maps too: these come before the state's, and stay.
    """
    z = unknowns(known, shape.size)
    found: list[_Step] = []
    state = begun
    varies = bool(case.statement.algorithm.schedules)
    made: dict[str, _Step] = {}
    for k in range(rounds):
        key = str(k) if varies else str([np.asarray(getattr(state, name)).tolist() for name in sorted(shape.clocks)])
        if key not in made:
            made[key] = _step(case, problem, shape.states(z[None], state), shape, k, known)
        found.append(made[key])
        state = found[-1].later
    return found


def _step(case: Case, problem: Any, state: Any, shape: Layout, passed: int, known: int) -> _Step:
    try:
        with unseen():
            later, p = rollout(case, problem, state, 1, passed)
            images = shape.flat(later)[0]
            alike = all(_is_one(getattr(later, name)) for name in shape.clocks)
    except Exception as error:
        raise NotPolynomial(f"a step of {case.claim.id} is not an affine map of the state: {error}") from error
    if not alike:
        raise NotPolynomial(f"a clock of {case.claim.id} does not stay one")
    first = 1 + known
    B = np.full((len(p), first + shape.size, first + shape.size), Quotient(0), dtype=object)
    B[:, range(first), range(first)] = Quotient(1)
    for (k, i), value in np.ndenumerate(images):
        for monomial, coefficient in terms_of(value).items():
            if len(monomial) > 1:
                raise NotPolynomial(f"a step of {case.claim.id} is not an affine map of the state")
            B[k, first + i, 1 + monomial[0] if monomial else 0] = coefficient
    return _Step(exact(B), np.asarray(p), later)


def _form(case: Case, problem: Any, quantity: Any, shape: Layout, last: Any, rounds: int, known: int = 0) -> Array:
    """The matrix Q of a quantity w'Qw of the state, and of unknowns of the problem."""
    state = shape.states(unknowns(known, shape.size)[None], last)
    try:
        with unseen():
            value = np.asarray(quantity.of(problem, params_after(case, problem, rounds), state)).item()
        terms: Mapping[Any, Any] = terms_of(value)
    except Exception as error:
        raise NotPolynomial(f"{quantity.expression} is not a quadratic polynomial of the state: {error}") from error
    Q = np.full((1 + known + shape.size,) * 2, Quotient(0), dtype=object)
    for monomial, c in terms.items():
        lifted = [0] * (2 - len(monomial)) + [1 + v for v in monomial]
        i, j = lifted[0], lifted[1]
        Q[i, j] += c * Quotient(1, 2)
        Q[j, i] += c * Quotient(1, 2)
    return Q


def _pulled(steps: list[_Step], Q: Array) -> Array:
    """The form Q before all these rounds: in fractions where these are few and small, else by enclosures."""
    draws, size, _ = steps[0].B.shape
    if draws * size**3 * len(steps) > _FRACTIONS:
        same = all(step is steps[0] for step in steps)
        if not same:
            raise NotPolynomial("too many rounds of maps that vary")
        return second_moments.pulled_back(steps[0].B, steps[0].p, Q, len(steps))
    for step in reversed(steps):
        Q = sum((p * (B.T @ Q @ B) for p, B in zip(step.p, step.B, strict=True)), 0 * Q)
    return Q


def _check(case: Case, problem: Any, begun: Any, shape: Layout, steps: list[_Step]) -> None:
    """Raise ``NotPolynomial`` if states of fractions are mapped otherwise: code may ask what kind of numbers it has.

    Compared are the first rounds of a run, and each map at a state far from it.
    """
    state = begun
    for k, step in enumerate(steps[:_ROUNDS]):
        later, count = _compared(case, problem, state, shape, step, k), len(step.p)
        state = type(later)(*(part[:, -1 - k % count][:, None] for part in later))
    before = [begun, *(step.later for step in steps[:-1])]
    for step, k in {id(step): (step, k) for k, step in reversed(list(enumerate(steps)))}.values():
        _compared(case, problem, shape.states(-1000 * generic(shape.size), before[k]), shape, step, k)


def _compared(case: Case, problem: Any, state: Any, shape: Layout, step: _Step, k: int) -> Any:
    """The states after a step from a state of fractions, which are those to which the maps take it."""
    w = np.concatenate([exact([1]), exact(shape.flat(state)[0, 0])])
    try:
        later, p = rollout(case, problem, state, 1, k)
        images = shape.flat(later)[0]
    except Exception as error:
        raise NotPolynomial(f"a step of {case.claim.id} is not an affine map of the state: {error}") from error
    same = (images == (step.B @ w)[:, 1:]).all() and (np.asarray(p) == step.p).all()
    if not same or not shape.same_clocks(later, step.later):
        raise NotPolynomial("a state of fractions is mapped otherwise")
    return later
