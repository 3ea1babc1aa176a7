"""Delays: of the last iterates each client saw one, and messages arrive late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class Delays:
    """A bounded delay of each client, chosen by an adversary; in a field of ``Params``.

    ``params.delays.seen(x_0, x_1, ..., x_tau)`` is, for each client, one of these vectors, ``(..., n, d)``: which one
    is up to the adversary, for each client and for each call. With the last iterates of a state, these are what clients
    saw with delays of at most tau rounds; with 0 and what a client has to send, what arrived of it. The adversary does
    not know what the step draws.

    Args:
        field: The parameter of the method that is asked.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Delays().text
        'any delays, params.delays, within the bounds of the step'
    """

    field: str = "delays"

    letters: ClassVar[tuple[str, ...]] = ()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"any delays, params.{self.field}, within the bounds of the step"

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if there is a delay of each client."""
        of = getattr(params, self.field)
        return bool(of.n == problem.n and min(of.ages) >= 0)
