"""Inequalities that hold at every iteration of a run, with the numbers of one choice of its constants, or in letters.

The rules of :mod:`verify.derivation.rules` ask coefficients for their signs and whether they are equal, and nothing
else. For numbers these are evident; for expressions in letters they must follow from what is assumed of the letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.scope import Scope
from fedtheory.meanings import BoundedBelow, Coercive, Everywhere, Isolated, Lipschitz
from fedtheory.numbers.rational import Array, to_float
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Iteration, Overall, Root
from fedtheory.settings.quantities import Away, Shared, Square, Total, Value
from fedtheory.settings.relations import Quantity
from verify.exact import reals


@dataclass(frozen=True)
class Coefficient:
    """A rational function of letters, cancelled, compared only where the ``assumed`` relations decide it.

    Comparisons raise ``ValueError`` where what is asked holds for some of the letters that are allowed, and not for
    others, or where nothing is known of it.
    """

    value: sympy.Expr
    assumed: tuple[sympy.Basic, ...]

    @classmethod
    def of(cls, value: sympy.Expr, assumed: tuple[sympy.Basic, ...]) -> Coefficient:
        """Return a coefficient for an expression in letters. Raise ``ValueError`` unless it is a rational function of
        them.
        """
        if not value.is_rational_function():
            raise ValueError(f"the coefficient {value} is not a rational function of the letters")
        return cls(sympy.cancel(sympy.together(value)), assumed)

    def is_zero(self) -> bool:
        """Return True if the coefficient is 0 for all letters and False if it is nonzero for all of them.

        Raise ``ValueError`` if neither follows from what is assumed of the letters.
        """
        if self.value == 0:
            return True
        if any(_implied(sign(self.value, 0, evaluate=False), self.assumed) for sign in (sympy.Gt, sympy.Lt)):
            return False
        raise ValueError(f"it is not known of all letters whether {self.value} is 0")

    def _with(self, value: sympy.Expr) -> Coefficient:
        return Coefficient.of(value, self.assumed)

    def __add__(self, other: Any) -> Coefficient:
        return self._with(self.value + _expression(other))

    def __sub__(self, other: Any) -> Coefficient:
        return self._with(self.value - _expression(other))

    def __rsub__(self, other: Any) -> Coefficient:
        return self._with(_expression(other) - self.value)

    def __mul__(self, other: Any) -> Coefficient:
        return self._with(self.value * _expression(other))

    def __truediv__(self, other: Any) -> Coefficient:
        return self._with(self.value / _expression(other))

    def __rtruediv__(self, other: Any) -> Coefficient:
        return self._with(_expression(other) / self.value)

    def __neg__(self) -> Coefficient:
        return self._with(-self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> bool:
        return self._decided(sympy.Lt, sympy.Ge, other)

    def __le__(self, other: Any) -> bool:
        return self._decided(sympy.Le, sympy.Gt, other)

    def __gt__(self, other: Any) -> bool:
        return self._decided(sympy.Gt, sympy.Le, other)

    def __ge__(self, other: Any) -> bool:
        return self._decided(sympy.Ge, sympy.Lt, other)

    def _decided(self, relation: Any, otherwise: Any, other: Any) -> bool:
        asked = self.value, _expression(other)
        for answer, candidate in ((True, relation), (False, otherwise)):
            if _implied(candidate(*asked, evaluate=False), self.assumed):
                return answer
        raise ValueError(f"it is not known of all letters whether {relation(*asked, evaluate=False)}")


@lru_cache(maxsize=4096)
def _implied(relation: sympy.Basic, assumed: tuple[sympy.Basic, ...]) -> bool:
    return reals.implied(relation, assumed)


#: A number, or what depends on letters.
Scalar = Fraction | Coefficient


def is_zero(c: Scalar) -> bool:
    """Return True if a coefficient is 0."""
    return c.is_zero() if isinstance(c, Coefficient) else c == 0


def _expression(c: Any) -> sympy.Expr:
    if isinstance(c, Coefficient):
        return c.value
    exact = Fraction(c)
    return sympy.Rational(exact.numerator, exact.denominator)


#: A quantity, identified by the function that computes it.
Of = Callable[[Any, Any, Any], Array]


class ClientQuantity(NamedTuple):
    """A quantity of one client, or (None) of none in particular."""

    of: Of
    client: int | None

    @property
    def plain(self) -> ClientQuantity:
        """The sequence with the same limit: before the iteration in place of after it, and where all clients have the
        same vector, of none in particular."""
        if not isinstance(self.of, At):
            return self
        before = replace(self.of, later=False)
        alone = _unshared(before.function) if before.each else None
        return (
            ClientQuantity(before, self.client)
            if alone is None
            else ClientQuantity(replace(before, function=alone, each=False), None)
        )

    @property
    def never_negative(self) -> bool:
        """Return True if the quantity has the form of a square or of a sum of squares."""
        function = self.of.function if isinstance(self.of, At) else self.of
        function = function.of if isinstance(function, Total) else function
        return isinstance(function, Square)


def _unshared(function: Of) -> Of | None:
    """The square of a vector that all clients share, or of its difference to one that is fixed, for none of them."""
    u = function.of if isinstance(function, Square) else None
    if isinstance(u, Away) and isinstance(u.of, Shared) and not isinstance(u.fixed, Value):
        return Square(Away(u.of.of, u.fixed))
    return Square(u.of) if isinstance(u, Shared) else None


def term(of: Of, client: int | None) -> ClientQuantity:
    """The quantity for a client; where no client is meant for none."""
    of_none = isinstance(of, Overall) or (isinstance(of, At) and not of.each)
    return ClientQuantity(of, None if of_none else client)


@dataclass(frozen=True)
class Fact:
    """An inequality: the sum of ``terms``, each a coefficient of a quantity, is at least 0.

    ``claim``: the claim that says so, for ``client``; None where a hypothesis does. ``case``: the hypothesis on who
    takes part, or on k, under which it holds, None where it holds at every iteration. ``signs``: whether the signs of
    the coefficients are all that is known of them.
    """

    claim: Claim | None
    terms: Mapping[ClientQuantity, Scalar]
    case: Hypothesis | None = None
    client: int | None = None
    signs: bool = False


def known(
    claim: Claim,
    values: Mapping[sympy.Expr, Any] | tuple[sympy.Basic, ...],
    case: Hypothesis | None,
    client: int,
) -> Iterator[Fact]:
    """The inequalities of a claim, two for an equation. Raise ``ValueError`` if one is not linear.

    ``values``: of its letters; or the relations between them that are assumed, where it is to be for all of them.
    """
    if claim.statement.scope is not Scope.STATE:
        raise ValueError(f"{claim.id} is not an inequality that holds at every iteration")
    for terms in _linear(claim.statement, values, claim.id):
        yield Fact(claim, {term(of, client): c for of, c in terms.items()}, case, client)


def hypothesis_facts(
    meaning: Everywhere, iteration: Iteration, values: Mapping[sympy.Expr, Any] | None = None
) -> Iterator[Fact]:
    """The inequalities that a hypothesis means, at the values of its letters; of letters without a value the signs of
    the coefficients are given. Raise ``ValueError`` if they are not of states of these iterations, or have no sign."""
    for q in meaning.statement.quantities:
        if not isinstance(q.of, At) or q.of.each or q.of.iteration is not iteration:
            raise ValueError(f"a hypothesis mentions {q.expression}, which is not a function of the state")
    letters = dict.fromkeys(meaning.positive, 1) if values is None else values
    if values is None and not all(_signed(meaning, q) for q in meaning.statement.quantities):
        raise ValueError("a hypothesis has a coefficient whose sign differs from that of a power of its letters")
    for terms in _linear(meaning.statement, letters, "a hypothesis"):
        yield Fact(
            None, {term(of, None): c for of, c in terms.items()}, signs=values is None and bool(meaning.positive)
        )


def _signed(meaning: Everywhere, quantity: Quantity) -> bool:
    """Return True if each coefficient of a quantity is a number times powers of the letters, which are positive."""
    coefficients = (sympy.expand(c.right - c.left).coeff(quantity.expression) for c in meaning.statement.comparisons)
    return all(not c.is_Add and c.free_symbols <= set(meaning.positive) for c in coefficients)


def _linear(
    statement: Statement, values: Mapping[sympy.Expr, Any] | tuple[sympy.Basic, ...], whose: str
) -> Iterator[dict[Of, Scalar]]:
    assumed = values if isinstance(values, tuple) else None
    letters = {} if isinstance(values, tuple) else {letter: _rational(value) for letter, value in values.items()}
    quantities = statement.quantities
    if any(q.domain is not None or q.after for q in quantities):
        raise ValueError(f"{whose} involves expectations, or quantities that need not be finite")
    if any(isinstance(q.of, Root) for q in quantities):
        raise ValueError(f"{whose} mentions roots")
    for comparison in statement.comparisons:
        gap = sympy.expand((comparison.right - comparison.left).subs(letters))
        coefficients = {q: gap.coeff(q.expression) for q in quantities}
        rest = sympy.expand(gap - sum(c * q.expression for q, c in coefficients.items()))
        free = any(c.has(q.expression) for c in coefficients.values() for q in quantities)
        if rest != 0 or free or not (assumed is not None or all(c.is_Rational for c in coefficients.values())):
            raise ValueError(f"{whose} is not an inequality linear in its quantities")
        terms: dict[Of, Scalar] = {}
        for q, c in coefficients.items():
            scalar = Fraction(int(c.p), int(c.q)) if assumed is None else Coefficient.of(c, assumed)
            terms[q.of] = terms[q.of] + scalar if q.of in terms else scalar
        for sign in (1, -1) if comparison.relation == "==" else (1,):
            yield {of: sign * c for of, c in terms.items() if not is_zero(c)}


def _rational(value: Any) -> sympy.Rational:
    exact = Fraction(value)
    return sympy.Rational(exact.numerator, exact.denominator)


# Check, in floats, the stated meanings of hypotheses on the states of a run that meets them.

#: Relative error that rounding may make.
_ROUNDING = 1e-9
#: The distances at which functions are examined for lower bounds, for growth to infinity, or for being Lipschitz.
_FAR = (1.0, 1e3, 1e6)
#: Rays on which they are, for each replica of a run.
_RAYS = 8


def contradicted(iteration: Iteration, meanings: Iterable[Any], problem: Any, params: Any, point: Any) -> str:
    """Return how the meaning of a hypothesis differs from an iteration of a run; empty if it does not."""
    at = iteration.before(problem, params, point)
    state = type(at)(*(to_float(part) for part in at))
    constants = iteration.constants(params)
    for says in meanings:
        if isinstance(says, Everywhere) and not _holds(says, iteration, problem, params, point):
            return "an inequality stated as the meaning of a hypothesis fails along a run"
        if isinstance(says, Coercive) and not _coercive(says, problem, constants, state):
            return "a quantity declared coercive does not grow with its point"
        if type(says) is BoundedBelow and not _bounded_below(says, problem, constants, state):
            return "a quantity declared bounded below decreases without bound far away"
        if isinstance(says, Lipschitz) and not _lipschitz(says, problem, constants, state):
            return "a quantity declared Lipschitz is not"
        if isinstance(says, Isolated) and not _moves(says, iteration, problem, params, point):
            return "a quantity declared to be the change of a vector is not"
    return ""


def _holds(says: Everywhere, iteration: Iteration, problem: Any, params: Any, point: Any) -> bool:
    values = {letter: Fraction(of(problem, params)) for letter, of in says.positive.items()}
    if any(value <= 0 for value in values.values()):
        return False
    for known in hypothesis_facts(says, iteration, values):
        parts = [_number(c) * to_float(t.of(problem, params, point)) for t, c in known.terms.items()]
        scale = 1 + sum(float(np.abs(part).max()) for part in parts)
        if not np.all(sum(parts) >= -_ROUNDING * scale):
            return False
    return True


def _number(c: Scalar) -> float:
    if isinstance(c, Coefficient):
        raise ValueError(f"the coefficient {c.value} is not a number")
    return float(c)


def _moves(says: Isolated, iteration: Iteration, problem: Any, params: Any, point: Any) -> bool:
    constants = iteration.constants(params)
    before, after = (
        to_float(says.point(problem, constants, at(problem, params, point)))
        for at in (iteration.before, iteration.after)
    )
    length = _length(after - before) ** 2
    change = to_float(says.move(problem, params, point))
    return change.shape == length.shape and bool(np.all(abs(change - length) <= _ROUNDING * (1 + length)))


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
        # With one client the vector stays.
        v[:4, 0] = u[:4, 0]
        left = _length(to_float(says.map(problem, params, u)) - to_float(says.map(problem, params, v)))
        if not np.all(left <= constant * _length(u - v) * (1 + _ROUNDING) + _ROUNDING * size):
            return False
    return True


def _length(x: Array) -> Array:
    return np.sqrt((x**2).sum(axis=-1))
