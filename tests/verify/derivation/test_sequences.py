"""Sequences: powers of one base, and what is not one."""

from __future__ import annotations

import pytest
import sympy

from fedtheory.numbers.symbols import round_index as k
from verify.derivation.sequences import plain, quotient

a, b = sympy.symbols("a b", positive=True)
root = sympy.sqrt(a) / sympy.sqrt(b)
rate = 1 - root / (root + (a - 1) / (b - 1))


@pytest.mark.parametrize(
    ("found", "due"),
    [
        (quotient((1 + a + b) * rate ** (k + 1), (1 + a + b) * rate**k), rate),
        (quotient((a - b) ** (k + 1) * (1 + a), (a - b) ** k), (a - b) * (1 + a)),
        (plain((1 - a) ** (2 * k) / (1 - a) ** k - (1 - a) ** k), 0),
        (plain(4**k * 2 ** (-2 * k)), 1),
        # What is negative at odd rounds is not the root of its square.
        (plain(sympy.sqrt((a - b) ** (2 * k))), sympy.Abs(a - b) ** k),
        (plain(sympy.sqrt((a - b) ** (2 * k)) - (a - b) ** k), sympy.Abs(a - b) ** k - (a - b) ** k),
    ],
)
def test_powers_of_one_base_are_joined(found, due):
    assert sympy.expand(found - due) == 0
