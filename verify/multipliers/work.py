"""Counted work: how far a search may go, which neither the processor nor its load can change."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """The units that work costs; one is a small semidefinite program at a point."""

    integer_program: int = 50  # to set one up
    node: int = 10  # each node of one
    nodes: int = 500  # the most nodes of one
    sign: int = 10  # a question about the sign of a polynomial


COSTS = Costs()
#: Units for a claim about one step. The proofs of the gallery take up to 4,500.
STEP = 16_000
#: Units for what is tried last of such a claim, at points further apart and of what says more.
LATE = 8_000
#: Units for proofs client by client.
CLIENTS = 12_000


@dataclass(eq=False)
class Work:
    """Units of work that a search may still spend; it stops where none are left."""

    left: int

    def spend(self, units: int = 1) -> None:
        """Take off what was done."""
        self.left -= units

    @property
    def is_spent(self) -> bool:
        """True if the search has to stop."""
        return self.left <= 0
