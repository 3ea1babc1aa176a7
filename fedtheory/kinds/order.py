"""Orders of growth: left = O(right)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import sympy

from fedtheory.kinds.base import Statement, Written, free_symbols
from fedtheory.kinds.scope import Scope

#: The names under which files have the values of letters.
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}'?")


@dataclass(frozen=True)
class Order(Statement):
    """left = O(right), with one constant for all values of the symbols.

    Args:
        left: The left side, in letters that are positive or nonnegative.
        right: The right side.
        small: A letter that tends to 0 first, before ``large``.
        large: A letter that tends to infinity first.
        both: True for Theta in the place of O.
        when: Relations that limit the values.
        also: Further orders that the statement makes with this one, each with its own regime.

    Examples:
        >>> import fedtheory as ft
        >>> n, kappa = ft.letters("n kappa")
        >>> ft.Order(kappa + n, kappa * n, large=kappa).lines(str)
        ['kappa + n = O(kappa*n) as kappa -> oo']
    """

    left: sympy.Expr
    right: sympy.Expr
    small: sympy.Symbol | None = None
    large: sympy.Symbol | None = None
    both: bool = False
    when: tuple[sympy.Basic, ...] = ()
    also: tuple[Order, ...] = ()
    kind: ClassVar[str] = "order"
    scope: ClassVar[Scope] = Scope.NONE

    def check(self) -> None:
        """Raise ``ValueError`` if a letter may be negative or has no word as its name, what tends to a limit first is
        in two roles, or another condition is not an order."""
        for other in self.also:
            if not isinstance(other, Order):
                raise ValueError(f"an order is stated with further orders, got one of kind {other.kind}")
        for letter in sorted(free_symbols(self), key=str):
            if not letter.is_nonnegative:
                raise ValueError(f"an order is looked at on scales: {letter} must be positive or nonnegative")
            if not _WORD.fullmatch(str(letter)):
                raise ValueError(
                    f"a counterexample to an order gives {letter} values by its name, which must be a word"
                )
        if self.small is not None and self.small == self.large:
            raise ValueError(f"{self.small} cannot tend to 0 and to infinity")

    @property
    def parts(self) -> tuple[Order, ...]:
        """The single orders of the statement, each in one direction."""
        found: list[Order] = []
        for part in (replace(self, also=()), *(further for other in self.also for further in other.parts)):
            found.append(replace(part, both=False))
            if part.both:
                found.append(replace(part, left=part.right, right=part.left, both=False))
        return tuple(found)

    @property
    def regime(self) -> list[tuple[sympy.Symbol, sympy.Expr]]:
        """The limits: each symbol with the value that it tends to."""
        ends = ((self.small, sympy.S.Zero), (self.large, sympy.oo))
        return [(symbol, end) for symbol, end in ends if symbol is not None]

    def lines(self, plain: Written) -> list[str]:
        regime = ", then ".join(f"{symbol} -> {end}" for symbol, end in self.regime)
        order = f"{plain(self.left)} = O({plain(self.right)})"
        return [f"{order} as {regime}" if regime else order]

    def formulas(self, latex: Written) -> list[str]:
        regime = r",\text{ then }".join(rf"{latex(symbol)} \to {latex(end)}" for symbol, end in self.regime)
        order = rf"{latex(self.left)} = O\left({latex(self.right)}\right)"
        return [rf"{order}, \qquad {regime}" if regime else order]
