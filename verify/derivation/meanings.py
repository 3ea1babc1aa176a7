"""Whether what hypotheses are said to mean holds of the states of a run that meets them, seen in floats."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.meanings import BoundedBelow, Coercive, Everywhere, Isolated, Lipschitz
from fedtheory.numbers.rational import Array, to_float
from fedtheory.settings.iterations import Iteration
from verify.derivation import facts

#: Relative error that rounding may make.
_ROUNDING = 1e-9
#: How far away functions are looked at that are bounded below, tend to infinity, or are Lipschitz.
_FAR = (1.0, 1e3, 1e6)
#: Rays on which they are, for each replica of a run.
_RAYS = 8


def contradicted(iteration: Iteration, meanings: Iterable[Any], problem: Any, params: Any, point: Any) -> str:
    """How a meaning differs from what an iteration of a run shows; empty if it does not."""
    at = iteration.before(problem, params, point)
    state = type(at)(*(to_float(part) for part in at))
    constants = iteration.constants(params)
    for says in meanings:
        if isinstance(says, Everywhere) and not _holds(says, iteration, problem, params, point):
            return "an inequality that a hypothesis is said to mean does not hold in a run"
        if isinstance(says, Coercive) and not _coercive(says, problem, constants, state):
            return "what is said to be coercive is no function of its point that grows with it"
        if type(says) is BoundedBelow and not _bounded_below(says, problem, constants, state):
            return "what is said to be bounded below falls far away as if it were not"
        if isinstance(says, Lipschitz) and not _lipschitz(says, problem, constants, state):
            return "what is said to be Lipschitz is not"
        if isinstance(says, Isolated) and not _moves(says, iteration, problem, params, point):
            return "what is said to be the change of a vector is not"
    return ""


def _holds(says: Everywhere, iteration: Iteration, problem: Any, params: Any, point: Any) -> bool:
    values = {letter: Fraction(of(problem, params)) for letter, of in says.positive.items()}
    if any(value <= 0 for value in values.values()):
        return False
    for known in facts.said(says, iteration, values):
        parts = [float(c) * to_float(t.of(problem, params, point)) for t, c in known.terms.items()]
        scale = 1 + sum(float(np.abs(part).max()) for part in parts)
        if not np.all(sum(parts) >= -_ROUNDING * scale):
            return False
    return True


def _moves(says: Isolated, iteration: Iteration, problem: Any, params: Any, point: Any) -> bool:
    constants = iteration.constants(params)
    before, after = (
        to_float(says.point(problem, constants, at(problem, params, point)))
        for at in (iteration.before, iteration.after)
    )
    length = _length(after - before) ** 2
    said = to_float(says.move(problem, params, point))
    return said.shape == length.shape and bool(np.all(abs(said - length) <= _ROUNDING * (1 + length)))


def _coercive(says: Coercive, problem: Any, params: Any, state: Any) -> bool:
    """Changing parts of the state on which the point does not depend changes nothing, and it grows along rays."""
    here, value = says.point(problem, params, state), says.function(problem, params, state)
    for name, part in zip(state._fields, state, strict=True):
        other = state._replace(**{name: 2 * part + 1})
        if np.array_equal(says.point(problem, params, other), here):
            moved = says.function(problem, params, other)
            if not np.array_equal(moved, value):
                return False
    _, middle, far = _along(says.function, problem, params, state, 1 + max(float(np.abs(part).max()) for part in state))
    return bool(np.all(far > middle) and np.all(far > to_float(value)))


def _bounded_below(says: BoundedBelow, problem: Any, params: Any, state: Any) -> bool:
    """Along rays it falls less and less, by half from one length to the next, what is small apart."""
    near, middle, far = _along(says.function, problem, params, state, 1.0)
    return bool(np.all(middle - far <= np.maximum(near - middle, 0) / 2 + 1 + np.abs(near)))


def _along(function: Any, problem: Any, params: Any, state: Any, unit: float) -> list[Array]:
    """A function's values along rays from the origin, all parts of the state at once, from near to far: ``_FAR``
    times a unit."""
    rng = np.random.default_rng(0)
    rays = [unit * rng.standard_normal((_RAYS, *part.shape)) for part in state]
    return [to_float(function(problem, params, type(state)(*(size * ray for ray in rays)))) for size in _FAR]


def _lipschitz(says: Lipschitz, problem: Any, params: Any, state: Any) -> bool:
    """Differences at points far and near are at most the constant of each client times those of its own vectors."""
    rng = np.random.default_rng(0)
    constant = to_float(says.constant(problem, params))
    for size in _FAR:
        u, v = (size * rng.standard_normal((8, problem.n, problem.d)) for _ in range(2))
        # Of one client the vector stays.
        v[:4, 0] = u[:4, 0]
        left = _length(to_float(says.map(problem, params, u)) - to_float(says.map(problem, params, v)))
        if not np.all(left <= constant * _length(u - v) * (1 + _ROUNDING) + _ROUNDING * size):
            return False
    return True


def _length(x: Array) -> Array:
    found: Array = np.sqrt((x**2).sum(axis=-1))
    return found
