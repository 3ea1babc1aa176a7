"""Mixing matrices of decentralised methods, with a known spectral gap."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class MixingMatrix:
    r"""A symmetric, doubly stochastic W with the spectral gap delta, the same in every round; in a field of ``Params``.

    ``params.W.mix(v)`` are the vectors sum_j W_ij v_j, for ``v (..., n, d)``: their mean is that of the v_i, and
    $\sum_i |(W v)_i - \bar v|^2 \le (1 - \delta)^2 \sum_i |v_i - \bar v|^2$.

    Args:
        field: The parameter of the method that is the matrix.
        gap: The parameter that is delta, positive and at most 1.

    Examples:
        >>> import fedtheory as ft
        >>> ft.MixingMatrix().text
        'a mixing matrix W with the spectral gap delta'
    """

    field: str = "W"
    gap: str = "delta"

    @property
    def letters(self) -> tuple[str, ...]:
        """The letter of the spectral gap."""
        return (self.gap,)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"a mixing matrix {self.field} with the spectral gap {self.gap}"

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the matrix of an instance is symmetric, doubly stochastic, and has the gap."""
        used = getattr(params, self.field)
        delta = getattr(params, self.gap)
        return bool(0 < delta <= 1 and used.n == problem.n and used.is_doubly_stochastic() and used.has_gap(delta))
