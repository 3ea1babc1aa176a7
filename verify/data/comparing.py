"""A comparison of what was read with the code itself, at instances: a safety net, which decides no claim.

Formal sums are evaluated on fractions, as the code computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.numbers.rational import exact, inverse
from verify.data.arrays import Array
from verify.data.space import OWNED, Product, Space
from verify.reading.source import Unread
from verify.reading.terms import Axis
from verify.reading.values import Condition

#: The axes of replicas of a state.
REPLICAS = 2


@dataclass(frozen=True)
class There:
    """An instance: ``problem``, ``params``, and ``state`` with one replica, on axes of its own; ``letters``: the values
    of the letters of a space, by name; ``held``: the functions as nodes hold them, where these are not the problem's.

    ``draw``: the rows of each client, ``(K, m)``; ``step``: that of a loop, and ``renewed``: what it renews, before it.
    """

    problem: Any
    params: Any
    state: Any
    letters: Mapping[str, Any]
    held: Any = None
    draw: Any = None
    step: int = 0
    renewed: tuple[Any, ...] = ()

    @property
    def f(self) -> Any:
        """The functions of the clients."""
        return self.problem.f if self.held is None else self.held

    def length(self, axis: Axis) -> int:
        """Return the number of places of an axis."""
        f = self.f
        # One function on every node has no examples.
        examples = getattr(f, "examples", 1)
        return {Axis.EXAMPLES: examples, Axis.CLIENTS: f.n, Axis.COORDINATES: f.d, Axis.ONE: 1}[axis]


def evaluated(of: Array, there: There) -> Any:
    """Return the entries of an array at an instance."""
    space = of.space
    total = exact(np.zeros([there.length(axis) for axis in of.axes], dtype=int))
    for made, c in of.of.items():
        total = total + _number(c, space, there) * _product(space, made, of.axes, there)
    return total


def _number(c: Any, space: Space, there: There) -> Any:
    """Return an element of the field at the letters of an instance."""
    values = [exact(np.array(there.letters.get(str(symbol), 0))).item() for symbol in space.field.symbols]

    def at(polynomial: Any) -> Any:
        total = 0 * values[0]
        for powers, number in polynomial.terms():
            term = total * 0 + Fraction(int(number.numerator), int(number.denominator))
            for value, power in zip(values, powers, strict=True):
                term = term * value**power if power else term
            total = total + term
        return total

    return at(c.numer) / at(c.denom)


def _product(space: Space, made: Product, axes: tuple[Axis, ...], there: There) -> Any:
    """Return the entries of a product of factors, summed over its summed indices."""
    operands: list[tuple[Any, list[int]]] = []
    names: dict[int, int] = {}
    for f in made:
        array = _entries(f.name, space, there)
        at: list[int] = []
        for place, i in reversed(list(enumerate(f.at))):
            if i < 0:
                array = np.take(array, -1 - i, axis=place)
            else:
                at.insert(0, names.setdefault(i, len(names)))
        operands.append((array**f.power if f.power > 0 else 1 / array ** (-f.power), at))
    free = [k for k, axis in enumerate(axes) if axis is not Axis.ONE]
    for k in free:
        if k not in names:
            operands.append((exact(np.ones(there.length(axes[k]), dtype=int)), [names.setdefault(k, len(names))]))
    found = _contracted(operands, [names[k] for k in free])
    return np.asarray(found, dtype=object).reshape([there.length(axis) for axis in axes])


def _contracted(operands: list[tuple[Any, list[int]]], free: list[int]) -> Any:
    """Return the product of arrays whose axes have names, summed over all names but those that are free."""
    left = list(operands)
    while summed := {i for _, at in left for i in at} - set(free):
        # The name whose sum has the fewest axes comes first.
        name = min(summed, key=lambda i: (len({j for _, at in left if i in at for j in at}), i))
        here = [one for one in left if name in one[1]]
        others = sorted({j for _, at in here for j in at} - {name})
        total = np.asarray(_multiplied(here, [*others, name]).sum(axis=-1), dtype=object)
        left = [*(one for one in left if name not in one[1]), (total, others)]
    return _multiplied(left, free)


def _multiplied(operands: list[tuple[Any, list[int]]], order: list[int]) -> Any:
    """Return the product of arrays, with the axes of these names in this order."""
    found: Any = exact(np.ones((1,) * len(order), dtype=int))
    for array, at in operands:
        # A name may stand twice, as in the trace of a matrix.
        for k in reversed(range(len(at))):
            if at[k] in at[:k]:
                first = at.index(at[k])
                array = np.moveaxis(np.diagonal(array, axis1=first, axis2=k), -1, first)
                at = [*at[:k], *at[k + 1 :]]
        places = [order.index(i) for i in at]
        turned = np.transpose(array, np.argsort(places)) if at else array
        shape = [1] * len(order)
        for place, length in zip(sorted(places), np.shape(turned), strict=True):
            shape[place] = length
        found = found * np.reshape(turned, shape)
    return found


def _entries(name: str, space: Space, there: There) -> Any:
    f = there.f
    if name == OWNED:
        return exact((f.owner[:, None] == np.arange(f.n)).astype(int))
    if name.startswith("same "):
        return exact(np.eye(there.length(Axis(name.removeprefix("same "))), dtype=int))
    if name in space.kernels:
        known = space.kernels[name]
        X = _entries(known.matrix, space, there)
        gram = np.matmul(X, X.T)
        gram = np.where(f.owner[:, None] == f.owner, gram, 0 * gram) if known.block else gram
        return inverse(exact(np.eye(len(X), dtype=int)) + _number(known.rate, space, there) * gram)
    if name in space.made_of:
        how, of = space.made_of[name]
        if how == "nonzero":
            return exact((_entries(of, space, there) != 0).astype(int))
        if how == "positive":
            return exact(np.asarray(evaluated(of, there) > 0).astype(int))
        if how == "1 over":
            entries = evaluated(of, there)
            return 1 / np.where(entries == 0, 0 * entries + 1, entries)
        return how(of, there)
    return exact(np.asarray(_given(name, there)))


def _given(name: str, there: There) -> Any:
    kind, _, path = name.partition(".")
    if name == "x_star":
        return there.problem.x_star
    if kind == "f":
        return getattr(there.f, path)
    if kind == "params":
        return getattr(there.params, path)
    part = np.asarray(getattr(there.state, path))
    return part.reshape(part.shape[REPLICAS:])


def occurs(conditions: Iterable[tuple[Condition, bool]], there: There) -> bool:
    """Return True if the answers to conditions on letters are those at an instance."""
    return all(_holds(condition, there) is answer for condition, answer in conditions)


def _holds(condition: Any, there: There) -> bool:
    if not isinstance(condition, Condition):
        return bool(condition)
    if condition.by in ("not", "and", "or"):
        parts = [_holds(part, there) for part in condition.of]
        return not parts[0] if condition.by == "not" else (all if condition.by == "and" else any)(parts)
    left, right = (_number(side.number(), side.space, there) for side in condition.of)
    if condition.by in ("==", "!="):
        return bool(left == right) is (condition.by == "==")
    return bool(left < right if condition.by == "<" else left <= right)


def check(read: tuple[Array, ...], axis: int, function: Callable[..., Any], there: There, what: str) -> None:
    """Raise ``Unread`` if a function gives something else at an instance than what was read of it."""
    found = np.asarray(function(there.problem, there.params, there.state))
    parts = [np.asarray(evaluated(one, there)) for one in read]
    here = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)
    if found.ndim > here.ndim:
        here = here.reshape((1,) * (found.ndim - here.ndim) + here.shape)
    if found.shape != here.shape or not bool((found == here).all()):
        raise Unread(f"{what} is not what was read there")
