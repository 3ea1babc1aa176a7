"""The class that a compressor is in, and the bits of its message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.compressors import Compressor
from fedtheory.kinds.base import Statement, Written, free_symbols
from fedtheory.kinds.scope import Scope


@dataclass(frozen=True)
class CompressorClass(Statement):
    """A compressor is unbiased, in U(omega) for the omega printed, and its message has the bits printed.

    Source: LoCoDL, eq. (2). Made by :func:`fedtheory.compressor_claim`.

    Args:
        compressor: ``compressor(d, k)`` builds it.
        omega: The variance, an expression in ``d`` and ``k``.
        bits: The length of a message, an expression in ``d`` and ``k``; None to state nothing of it.
        d: The letter of the dimension.
        k: The letter of the coordinates that are kept.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory.compressors import rand_k
        >>> statement = ft.CompressorClass(rand_k, ft.d / ft.k - 1, None, ft.d, ft.k)
        >>> statement.lines(str)[1]
        'E|C(x) - x|^2 <= omega |x|^2 with omega = d/k - 1'
    """

    compressor: Callable[[int, int], Compressor]
    omega: sympy.Expr
    bits: sympy.Expr | None
    d: sympy.Symbol
    k: sympy.Symbol
    kind: ClassVar[str] = "compressor"
    scope: ClassVar[Scope] = Scope.COMPRESSOR
    pointwise: ClassVar[bool] = True

    @property
    def perturbed(self) -> tuple[str, ...]:
        return ("omega",) if self.bits is None else ("omega", "bits")

    def check(self) -> None:
        """Raise ``ValueError`` if omega or the bits involve another letter than d and k."""
        others = free_symbols(self) - {self.d, self.k}
        if others or self.d == self.k:
            other = min(others or {self.d}, key=str)
            raise ValueError(f"a compressor's omega and bits are expressions in d and k, and mention {other}")

    def _fields_of(self, parts: dict[str, object]) -> dict[str, Any]:
        if isinstance(fixed := parts.get("compressor"), Compressor):
            return {**parts, "compressor": lambda d, k: fixed}
        return parts

    def lines(self, plain: Written) -> list[str]:
        return [
            "E C(x) = x",
            f"E|C(x) - x|^2 <= omega |x|^2 with omega = {plain(self.omega)}",
            "the omega that its code declares bounds its errors too, and is at most this one",
            *([] if self.bits is None else [f"bits of a message = {plain(self.bits)}"]),
        ]

    def formulas(self, latex: Written) -> list[str]:
        return [
            r"\mathbb{E}\,\mathcal{C}(x) = x",
            rf"\mathbb{{E}}\|\mathcal{{C}}(x) - x\|^2 \le \omega \|x\|^2, \qquad \omega = {latex(self.omega)}",
            r"\mathbb{E}\|\mathcal{C}(x) - x\|^2 \le \omega_{\mathcal{C}} \|x\|^2, \qquad"
            rf" \omega_{{\mathcal{{C}}}} \le {latex(self.omega)} \text{{ for the one that its code declares}}",
            *([] if self.bits is None else [rf"\text{{bits}} = {latex(self.bits)}"]),
        ]
