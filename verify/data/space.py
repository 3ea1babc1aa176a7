"""The named quantities of formal sums, and what is known of them: that they are 0 or 1, or positive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy

from verify.reading.terms import Axis

#: Free indices are 0, 1, ...; those that are summed over begin here; a client with a written number k is -1 - k.
SUMMED = 1000
#: The indicator that the first index, an example, is held by the second, a client.
OWNED = "held by"
#: The number of examples of a client.
SIZE = "f.sizes"
#: The least curvature that a class declares of a function.
LEAST = "the least curvature"
#: The prefix of the indicators that two indices of an axis are one.
SAME = "same "


class Factor(NamedTuple):
    """A named quantity at some indices, to a power."""

    name: str
    at: tuple[int, ...]
    power: int = 1


#: Factors in canonical form.
Product = tuple[Factor, ...]


@dataclass(frozen=True)
class Leaf:
    """The known facts about a named quantity.

    ``axes``: the ranges of its indices; ``mask``: True if it is 0 or 1; ``positive``, ``nonnegative``: True if it is
    above 0, or not below;
    ``absorbed``: factors, in its own indices and summed ones, beside which a mask is 1, as where one is not 0 the mask
    is not.
    """

    axes: tuple[Axis, ...]
    mask: bool = False
    positive: bool = False
    nonnegative: bool = False
    absorbed: tuple[Product, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """The inverse of I + rate X X', where ``block`` of the same with the products of examples of different clients left
    out; ``matrix``: the name of X."""

    rate: Any
    block: bool
    matrix: str


@dataclass(eq=False)
class Space:
    """The letters, as a field, and the named quantities of one reading of a claim.

    ``leaves``: the named quantities; ``kernels``: those that are inverses; ``divisors``: elements of the field, and
    products without sums, that the code divides by.
    """

    field: Any
    leaves: dict[str, Leaf]
    kernels: dict[str, Kernel] = field(default_factory=dict)
    divisors: list[Any] = field(default_factory=list)
    divided: list[Product] = field(default_factory=list)
    #: The sums of the data whose reciprocals have names. That they are positive is an obligation.
    reciprocals: dict[str, Any] = field(default_factory=dict)
    #: Masks of clients and features, of which at most one client has a feature.
    exclusive: set[str] = field(default_factory=set)
    #: Letters that are whole numbers at all instances.
    whole: set[str] = field(default_factory=set)
    #: True if there is one client alone.
    alone: bool = False
    #: The parameter that says how many nodes hold one function; None where there are several, or data.
    copied: str | None = None
    #: True if each client has one function of its own.
    own: bool = False
    #: The constituents of an opaque quantity, by its name.
    made_of: dict[str, Any] = field(default_factory=dict)

    def count(self, axis: Axis) -> Any:
        """Return the length of an axis, as an element of the field."""
        if self.alone and axis is Axis.CLIENTS:
            return self.field.one
        return self.field(sympy.Symbol(COUNTS[axis]))

    def axes(self, name: str) -> tuple[Axis, ...]:
        """Return the ranges of the indices of a factor of this name."""
        if name.startswith(SAME):
            return (Axis(name.removeprefix(SAME)),) * 2
        if name in self.kernels:
            return (Axis.EXAMPLES, Axis.EXAMPLES)
        return (Axis.EXAMPLES, Axis.CLIENTS) if name == OWNED else self.leaves[name].axes

    def is_mask(self, name: str) -> bool:
        """Return True if a factor of this name is 0 or 1."""
        return name == OWNED or name.startswith(SAME) or (name in self.leaves and self.leaves[name].mask)

    def is_positive(self, name: str) -> bool:
        """Return True if a factor of this name is above 0."""
        return name in self.leaves and self.leaves[name].positive

    def is_weight(self, name: str) -> bool:
        """Return True if a factor of this name is not negative."""
        return self.is_mask(name) or (
            name in self.leaves and (self.leaves[name].positive or self.leaves[name].nonnegative)
        )

    def kernel(self, rate: Any, block: bool, matrix: str) -> str:
        """Return the name of the inverse of I + rate X X'. That the rate is above 0 is an obligation."""
        made = Kernel(rate, block, matrix)
        name = next((name for name, known in self.kernels.items() if known == made), None)
        if name is None:
            name = f"inverse {len(self.kernels)}"
            self.kernels[name] = made
        return name


#: The letters that count the places of an axis.
COUNTS = {Axis.EXAMPLES: "f.examples", Axis.CLIENTS: "n", Axis.COORDINATES: "d"}


def same(axis: Axis, one: int, other: int) -> Factor:
    """Return the indicator that two indices are one."""
    return Factor(f"{SAME}{axis}", (min(one, other), max(one, other)))


def is_same(factor: Factor) -> bool:
    """Return True if a factor is the indicator that two indices are one."""
    return factor.name.startswith(SAME)
