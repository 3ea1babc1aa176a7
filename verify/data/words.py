"""Formal sums in words: what a proof that is printed says of the quantities that stand in it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import sympy

from verify.data.arrays import Array
from verify.data.folds import DRAWN, RENEWED, Fold
from verify.data.space import OWNED, SIZE, SUMMED, Factor, Product, Space, is_same
from verify.reading.terms import Axis

#: The letters of indices, by what they run over.
_LETTERS = {Axis.EXAMPLES: "i", Axis.CLIENTS: "k", Axis.COORDINATES: "j"}
_RANGES = {Axis.EXAMPLES: "examples", Axis.CLIENTS: "clients", Axis.COORDINATES: "features"}
#: Names that are words already.
_PLAIN = {SIZE: "n", "f.X": "X", "f.y": "y", DRAWN: "drawn"}


class Wording:
    """The words for the quantities of a space, in letters as ``names`` has them. ``meanings``: of the names that it
    gives to quantities that are made of others."""

    def __init__(self, space: Space, names: Mapping[sympy.Symbol, sympy.Symbol]) -> None:
        self.space, self.names = space, dict(names)
        self.meanings: dict[str, str] = {}
        self._called: dict[str, str] = {}
        self._numbers = count(1)

    def product(self, made: Product) -> str:
        """Return a product of factors in words, with the sums that are taken of it."""
        ranges = {i: a for f in made for i, a in zip(f.at, self.space.axes(f.name), strict=True)}
        names: dict[int, str] = {i: str(-1 - i + 1) for i in ranges if i < 0}
        for i in sorted(i for i in ranges if i >= 0):
            letter = _LETTERS[ranges[i]]
            taken = sum(name.rstrip("'") == letter for name in names.values())
            names[i] = letter + "'" * taken
        factors = " ".join(self._factor(f, names) for f in made) or "1"
        bound = [f"{names[i]} in {_RANGES[ranges[i]]}" for i in sorted(ranges) if i >= SUMMED]
        return f"the sum over {', '.join(bound)} of {factors}" if bound else factors

    def array(self, one: Array) -> str:
        """Return the entries of an array in words."""
        parts = []
        for made, c in sorted(one.of.items()):
            number = self._number(c)
            times = f"{number}" if number.is_Atom or not made else f"({number})"
            parts.append(times if not made else self.product(made) if number == 1 else f"{times} {self.product(made)}")
        return " + ".join(parts) or "0"

    def _number(self, c: Any) -> sympy.Expr:
        return c.as_expr().xreplace(self.names)

    def _factor(self, f: Factor, names: dict[int, str]) -> str:
        at = ", ".join(names[i] for i in f.at)
        if f.name == OWNED:
            return f"[{names[f.at[0]]} is held by {names[f.at[1]]}]"
        if is_same(f):
            return f"[{names[f.at[0]]} is {names[f.at[1]]}]"
        return f"{self._name(f.name)}({at})" + (f"^{f.power}" if f.power != 1 else "")

    def _name(self, name: str) -> str:
        if name in _PLAIN or (name not in self.space.made_of and name not in self.space.kernels):
            return _PLAIN.get(name, name)
        if name not in self._called:
            called = self._called[name] = f"q{next(self._numbers)}"
            meaning = self._meaning(name)
            self.meanings[called] = meaning
        return self._called[name]

    def _meaning(self, name: str) -> str:
        if name in self.space.kernels:
            known = self.space.kernels[name]
            apart = ", with the products of examples of different clients left out" if known.block else ""
            return (
                f"the inverse of I + ({self._number(known.rate)}) {_PLAIN[known.matrix]} {_PLAIN[known.matrix]}'{apart}"
            )
        _, of = self.space.made_of[name]
        how = name.partition(" (")[0]
        if isinstance(of, str):
            return f"1 where {self._name(of)} is not 0, else 0"
        if isinstance(of, Array):
            return f"{how} {self.array(of)}"
        given: tuple[Any, ...] = of if isinstance(of, tuple) else ()
        fold = next((part for part in given if isinstance(part, Fold)), None)
        if fold is not None:
            starts, steps = ("; ".join(map(self.array, parts)) for parts in (fold.starts, fold.steps))
            made = f"what {self.array(fold.count)} steps make of {starts}, each of which gives {steps}"
            return f"part {given[0] + 1} of {made}"
        if name.startswith(RENEWED):
            return f"part {given[0] + 1} before a step"
        parts = [self.array(part) for part in given if isinstance(part, Array)]
        return f"{how} of {'; '.join(parts)}"
