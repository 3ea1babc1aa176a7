"""The conditions under which a distribution exists: only there is there a step, and a proof has to show them.

These are the conditions under which the classes of :mod:`fedtheory.randomness` raise an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verify.reading import terms
from verify.reading.source import Unread
from verify.reading.terms import Op, Term
from verify.reading.values import Condition, Law


def undrawable(law: Law) -> Iterator[tuple[str, Condition]]:
    """Yield the conditions under which there is no such distribution, each with what is wrong then.

    Raise ``Unread`` if sets of clients are drawn whose size need not be a whole number, or if nothing here says when a
    distribution of this kind exists.
    """
    match law.name:
        case "constant" | "compression" | "permutation" | "gaussian" | "sphere":
            # Nothing is drawn, or by the class of the compressor, or over a written number of clients, or a direction.
            pass
        case "subset" | "pattern":
            yield from _of_size(law.of[0], law.of[1], 2 if law.name == "pattern" else 1)
        case "weighted subset":
            weights, size = law.of
            yield from _of_size(terms.leaf(Op.COUNT, "n", terms.NUMBER), size, 1)
            yield "a weight by which clients are drawn is not positive", Condition("<=", (weights, terms.constant(0)))
        case "bernoulli" | "coins" | "coins of coordinates":
            p = law.of[0]
            yield "the probability of a coin is negative", Condition("<", (p, terms.constant(0)))
            yield "the probability of a coin exceeds 1", Condition("<", (terms.constant(1), p))
        case "categorical":
            p = law.of[0]
            yield "the probability of a client is negative", Condition("<", (p, terms.constant(0)))
            total = terms.total(p, -1, False)
            yield "the probabilities of the clients do not sum to 1", Condition("!=", (total, terms.constant(1)))
        case "independent" | "product":
            for part in law.of:
                if isinstance(part, Law):
                    yield from undrawable(part)
        case _:
            raise Unread(f"nothing says when a distribution of the kind {law.name} exists")


def undrawable_in(of: Iterable[Term]) -> Iterator[tuple[str, Condition]]:
    """As :func:`undrawable`, for the distributions whose draws terms enumerate."""
    for term in terms.parts(*of):
        if term.op is Op.ALL:
            yield from undrawable(Law(term.data[0], term.of))


def _of_size(n: Term, size: Term, least: int) -> Iterator[tuple[str, Condition]]:
    if size.width is None:
        raise Unread("clients are drawn whose number is not known to be a whole one")
    # Whole numbers that exceed 0 are at least 1.
    too_few = Condition("<=", (size, terms.constant(least - 1)))
    yield f"fewer than {least} clients are drawn", too_few
    yield "more clients are drawn than there are", Condition("<", (n, size))
