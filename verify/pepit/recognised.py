"""Exact numbers recognised by their digits: fractions, and elements of a field with square roots.

All of this proposes: chance may put a number of the field there, and what is made of it is checked in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import flint

from verify.pep.faces import between
from verify.pepit.algebraic import Algebraic, Field, TooLarge


def number(value: int, scale: int, bits: int, field: Field) -> Fraction | Algebraic | None:
    """The number near value / 2 ** scale, right to ``bits`` digits, if it is so simple that chance does not put it
    there: a fraction, or an element of the field."""
    found = fraction(value, scale, bits)
    if found is not None or not field.squares:
        return found
    relation = _relation([*_basis(field, scale), value], scale, bits)
    if relation is None or not relation[-1]:
        return None
    return field.element([Fraction(-c, relation[-1]) for c in relation[:-1]])


def fraction(value: int, scale: int, bits: int) -> Fraction | None:
    """The same for fractions only."""
    error = 1 << (scale - 3 * bits // 4)
    if abs(value) <= error:
        return Fraction(0)
    found = between(Fraction(abs(value) - error, 1 << scale), Fraction(abs(value) + error, 1 << scale))
    if found.denominator.bit_length() > bits // 3:
        return None
    return found if value > 0 else -found


def surd_between(low: Fraction, high: Fraction, scale: int, field: Field) -> Algebraic | None:
    """An irrational number of the field between two fractions that is so simple that chance does not put it there."""
    bits = 4 * (math.floor(1 / (high - low)).bit_length() - 1) // 3
    relation = _relation([*_basis(field, scale), math.floor((low + high) / 2 * (1 << scale))], scale, bits)
    if relation is None or not relation[-1]:
        return None
    found = field.element([Fraction(-c, relation[-1]) for c in relation[:-1]])
    return found if low <= found <= high and any(found.coordinates[1:]) else None


def larger_field(value: int, scale: int, bits: int, field: Field) -> Field | None:
    """The field with one more root in which a number is, by the quadratic equation over the field that it satisfies.

    None if no simple equation does, or it has a solution in the field.
    """
    basis = _basis(field, scale)
    powers = [1 << scale, value, value * value >> scale]
    d = field.degree
    relation = _relation([b * p >> scale for p in powers for b in basis], scale, bits)
    if relation is None:
        return None
    c, b, a = (field.element(relation[k * d : (k + 1) * d]) for k in range(3))
    discriminant = b * b - 4 * a * c
    if not a or discriminant <= 0:
        return None
    try:
        found, _ = field.with_root(discriminant)
    except TooLarge:
        return None
    return None if found == field else found


def _basis(field: Field, scale: int) -> list[int]:
    return list(field.fixed(scale))


def _relation(values: Sequence[int], scale: int, bits: int) -> list[int] | None:
    """Integers, not all zero, with which numbers add up to zero, by lattice reduction; None if none are small enough
    for chance not to put them there."""
    n, left = len(values), scale - 3 * bits // 4
    rows = [[int(i == j) for j in range(n)] + [v >> left] for i, v in enumerate(values)]
    reduced = flint.fmpz_mat(rows).lll()
    shortest = [int(reduced[0, j]) for j in range(n + 1)]
    most = 1 << 2 * bits // (3 * n)
    if not any(shortest) or any(abs(c) >= most for c in shortest):
        return None
    return shortest[:-1]
