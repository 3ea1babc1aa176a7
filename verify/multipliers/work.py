"""Counted work: how far a search may go, which neither the processor nor its load can change."""

from __future__ import annotations

from dataclasses import dataclass

#: The unit is a small semidefinite program at a point. What an integer program costs, and each of its nodes; nodes of
#: one program at most; and a question about the sign of a polynomial.
INTEGER_PROGRAM, NODE, NODES, SIGN = 50, 10, 500, 10
#: Units for a claim about one step, and for what is shown client by client. The proofs of the gallery take up to 4,500.
STEP, CLIENTS = 16_000, 12_000


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
