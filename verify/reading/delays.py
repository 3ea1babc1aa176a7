"""Delays in code that is read: vectors about which only balls that contain them are known."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from fedtheory.problems.delays import Stale
from verify.reading import terms
from verify.reading.arrays import as_term
from verify.reading.terms import Axis, Term
from verify.reading.values import Named, Rule


def delays(name: str, value: Any, single: bool, asked: Callable[[], bool]) -> Named | None:
    """Return delays as a parameter; None for any other object.

    ``single``: True if there is one client; ``asked``: True if it may be asked, which only a step may.
    """
    if type(value) is not Stale:
        return None
    axes = (Axis.ONE if single else Axis.CLIENTS, Axis.COORDINATES)

    def seen(latest: Any, *before: Any) -> Term:
        if not asked():
            raise ValueError(f"{name}.seen is called outside of a step")
        given = [as_term(vectors) for vectors in (latest, *before)]
        if any(len(vectors.type.axes) != len(axes) for vectors in given):
            raise ValueError(f"{name}.seen is given a point x, where x[..., None, :] is expected")
        return one_of(name, [terms.spread(vectors, axes) for vectors in given])

    return Named(f"the parameter {name}", {"seen": Rule(f"{name}.seen", seen)})


def one_of(name: str, given: list[Term]) -> Term:
    """Return one of these vectors, as the answer of an adversary that is in balls in which all of them are.

    With x_0, ..., x_tau it is v with |v - x_0|^2 <= tau sum |x_k - x_(k-1)|^2, by Cauchy and Schwarz, and
    |v - x_0|^2 <= sum |x_k - x_0|^2. With two vectors it is also in the ball that has them as the ends of a diameter.
    """
    latest, *before = given
    if not before:
        return latest
    tau = terms.constant(len(before))
    by_rounds = terms.multiply(tau, _total([_square(a, b) for a, b in pairwise(given)]))
    if len(before) == 1:
        half = terms.constant(Fraction(1, 2))
        middle = terms.multiply(half, terms.add(latest, before[0]))
        other = middle, terms.multiply(terms.multiply(half, half), _square(latest, before[0]))
    else:
        other = latest, _total([_square(x, latest) for x in before])
    return terms.answered(name, latest, by_rounds, within=(other,), sure=True)


def _total(numbers: list[Term]) -> Term:
    found = numbers[0]
    for number in numbers[1:]:
        found = terms.add(found, number)
    return found


def _square(one: Term, other: Term) -> Term:
    """Return the squared distance of two vectors, one for each client."""
    return terms.total(terms.power(terms.add(one, terms.negative(other)), 2), -1, False)
