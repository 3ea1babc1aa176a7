"""The answers of few functions that code asks one by one: each is a term of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from verify.reading import terms
from verify.reading.arrays import indexed
from verify.reading.terms import Term
from verify.reading.values import Named, Rule


@dataclass(frozen=True, eq=False)
class OfEach(Named):
    """Arrays in which each function has one place on the ``axis`` of clients, counted from the last: one term for each.

    Code takes one of them by its number, or all of their sum or mean.
    """

    of: tuple[Term, ...] = ()
    axis: int = -1

    def at(self, items: Sequence[Any]) -> Term:
        """Return what an index takes. Raise ``ValueError`` unless that is one function's part, whole."""
        first, *rest = items
        number, *whole = rest or [None]
        slices = all(isinstance(item, ast.Slice) and item.lower is item.upper is item.step is None for item in whole)
        if first is not Ellipsis or type(number) is not int or len(whole) != -self.axis - 1 or not slices:
            raise ValueError(f"of {self.what} one is taken by its number: write [..., 0{', :' * (-self.axis - 1)}]")
        if not -len(self.of) <= number < len(self.of):
            raise ValueError(f"there are {len(self.of)} functions, and none has the number {number}")
        return self.of[number]


def of_each(what: str, answer: Callable[[int], Term], count: int, axis: int) -> OfEach:
    """Return the answers of functions, numbered from 1, each with an axis of length 1 in the place of the clients'."""
    place = [Ellipsis, 0, *[ast.Slice()] * (-axis - 1)]
    of = tuple(indexed(answer(i), place) for i in range(1, count + 1))
    rules = {name: Rule(name, partial(_total, what, of, axis, name == "mean")) for name in ("sum", "mean")}
    return OfEach(what, rules, of, axis)


def _total(what: str, of: tuple[Term, ...], own: int, mean: bool, axis: Any = None) -> Term:
    if type(axis) is not int or axis != own:
        raise ValueError(f"{what} are summed over another axis than that of the functions: write axis={own}")
    total = reduce(terms.add, of)
    return terms.multiply(terms.constant(Fraction(1, len(of))), total) if mean else total
