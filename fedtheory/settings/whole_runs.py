"""Quantities of a whole run of T rounds: sums over rounds, least values, averages of iterates.

The rounds are k = ``first``, ..., ``last``, and x_k is the state before round k: the run begins at x_0, and x_T is the
state after T rounds. Weights are expressions in letters, in the index ``round_index`` of the round and, in a sum, in T.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import sympy

from fedtheory.numbers import validation
from fedtheory.numbers.symbols import T, round_index
from fedtheory.settings.relations import Composed, OfRun, Quantity, RelationTerm, at_time, side


@dataclass(frozen=True)
class RunTotal(OfRun):
    """The sum of ``term`` over rounds: an expression that is affine in the ``inner`` quantities of x_k."""

    term: sympy.Expr
    inner: tuple[Quantity, ...]
    first: int
    last: sympy.Expr

    @property
    def weights(self) -> tuple[sympy.Expr, ...]:
        """The weight of each of the inner quantities."""
        return tuple(self.term.coeff(q.expression) for q in self.inner)

    @property
    def rest(self) -> sympy.Expr:
        """The part of the sum's term that is not a multiple of a quantity."""
        return sympy.expand(self.term - sum(w * q.expression for w, q in zip(self.weights, self.inner, strict=True)))

    @property
    def expressions(self) -> Iterator[sympy.Expr]:
        """The expressions that contain its letters."""
        yield sympy.Sum(self.term, (round_index, self.first, self.last))

    def __str__(self) -> str:
        return f"sum of {self.term} over {_rounds(self)}"


@dataclass(frozen=True)
class RunMinimum(OfRun):
    """The least value of a quantity; of its expectations where they are ``expected``, else along each run."""

    inner: tuple[Quantity, ...]
    first: int
    last: sympy.Expr
    expected: bool
    never_empty: ClassVar[bool] = True

    @property
    def expressions(self) -> Iterator[sympy.Expr]:
        """The expressions that contain its letters."""
        yield from ()

    def __str__(self) -> str:
        (q,) = self.inner
        return f"least {f'E[{q.expression}]' if self.expected else q.expression} over {_rounds(self)}"


@dataclass(frozen=True)
class AtAverage(OfRun):
    """A quantity at the average of the iterates with these weights, of all parts of the state."""

    inner: tuple[Quantity, ...]
    weight: sympy.Expr
    first: int
    last: sympy.Expr
    never_empty: ClassVar[bool] = True

    @property
    def expressions(self) -> Iterator[sympy.Expr]:
        """The expressions that contain its letters."""
        yield sympy.Sum(self.weight, (round_index, self.first, self.last))

    def __str__(self) -> str:
        (q,) = self.inner
        weighted = "" if self.weight == 1 else f", with the weights {self.weight},"
        return f"{q.expression} at the average{weighted} over {_rounds(self)}"


def _rounds(run: OfRun) -> str:
    return f"k = {run.first}, ..., {run.last}"


def total(term: object, first: int = 0, last: object = T - 1) -> Quantity:
    """Return the sum of a quantity, or of an expression affine in quantities, over rounds.

    ``total(gamma * G)`` is gamma (G(x_0) + ... + G(x_{T-1})). A sum over no rounds is 0.

    Args:
        term: The quantity or expression, of the state before a round; weights are in letters, ``round_index`` and T.
        first: The first round.
        last: The last round, T - 1 or T.

    Returns:
        A quantity after T rounds.

    Raises:
        ValueError: For a term that comes after a step, or is not affine in quantities, and for other ranges.

    Examples:
        >>> import fedtheory as ft
        >>> G = ft.Quantity("G", ft.gap)
        >>> ft.total(G).expression
        [sum of G over k = 0, ..., T - 1]
    """
    summand = side(term)
    if summand.expected or summand.random or not summand.quantities:
        raise ValueError(f"a sum over rounds is one of quantities before a step, without E, got {summand.expression}")
    if not validation.affine(summand.expression, [q.expression for q in summand.quantities]):
        raise ValueError(f"a sum over rounds is one of multiples of quantities, got {summand.expression}")
    if any(isinstance(q.of, OfRun) or q.domain is not None for q in summand.quantities):
        raise ValueError("a sum over rounds is one of finite quantities of one iterate each")
    return _of_run(RunTotal(summand.expression, summand.quantities, *_range(first, last)))


def average(term: object, first: int = 0, last: object = T - 1, weight: object = 1) -> Composed:
    """Return the weighted mean of a quantity over rounds.

    It is also its expectation at an iterate that is drawn with probabilities proportional to the weights.

    Args:
        term: The quantity, of the state before a round.
        first: The first round.
        last: The last round, T - 1 or T.
        weight: The weight of round k, in letters and ``round_index``.

    Returns:
        A term of a relation, after T rounds.

    Raises:
        ValueError: As for :func:`total`.

    Examples:
        >>> import fedtheory as ft
        >>> ft.average(ft.Quantity("G", ft.gap)).expression
        [sum of G over k = 0, ..., T - 1]/T
    """
    (start, end), w = _range(first, last), validation.expression("a weight", weight)
    whole = sympy.Sum(w, (round_index, start, end))
    return total(w * side(term), start, end) / (end - start + 1 if w == 1 else whole)


def minimum(quantity: Quantity, first: int = 0, last: object = T - 1, expected: bool = False) -> RelationTerm:
    """Return the least value of a quantity along the run.

    Args:
        quantity: The quantity, of the state before a round.
        first: The first round.
        last: The last round, T - 1 or T.
        expected: True for the least of its expectations, which needs no ``E``; otherwise ``E`` is taken of the least.

    Returns:
        A term of a relation, after T rounds.

    Raises:
        ValueError: For a quantity after a step or of a whole run, and for other ranges.

    Examples:
        >>> import fedtheory as ft
        >>> ft.minimum(ft.Quantity("G", ft.gap), expected=True).expression
        [least E[G] over k = 0, ..., T - 1]
    """
    found = _of_run(RunMinimum((_alone(quantity),), *_range(first, last), expected))
    return Composed(found.expression, (found,), expected=True) if expected else found


def at_average(quantity: Quantity, first: int = 0, last: object = T - 1, weight: object = 1) -> Quantity:
    """Return a quantity at the average of the iterates x_first, ..., x_last.

    Args:
        quantity: The quantity, of one state.
        first: The first round.
        last: The last round, T - 1 or T.
        weight: The weight of x_k, in letters and ``round_index``.

    Returns:
        A quantity after T rounds.

    Raises:
        ValueError: For a quantity after a step or of a whole run, a weight in T, and for other ranges.

    Examples:
        >>> import fedtheory as ft
        >>> ft.at_average(ft.Quantity("F", ft.gap)).expression
        [F at the average over k = 0, ..., T - 1]
    """
    w = validation.expression("a weight", weight)
    if T in w.free_symbols:
        raise ValueError(f"the weight {w} of an average of iterates depends on T")
    return _of_run(AtAverage((_alone(quantity),), w, *_range(first, last)))


def _alone(quantity: object) -> Quantity:
    if not isinstance(quantity, Quantity) or quantity.after or quantity.domain is not None:
        raise ValueError(f"what is taken over rounds is a quantity before a step, got {quantity!r:.80}")
    if isinstance(quantity.of, OfRun):
        raise ValueError(f"{quantity.expression} is of a whole run already")
    return quantity


def _range(first: object, last: object) -> tuple[int, sympy.Expr]:
    end = sympy.sympify(last)
    if type(first) is not int or first < 0 or end not in (T - 1, T):
        raise ValueError(f"rounds are counted from an integer of at least 0 to T - 1 or T, got {first} to {last}")
    return first, end


def _of_run(of: OfRun) -> Quantity:
    return at_time("T", Quantity(sympy.Symbol(f"[{of}]", real=True), of, after=True))
