"""Decide whether quantities are convex in the state, for Jensen's inequality."""

from __future__ import annotations

from fedtheory.claims import Claim
from fedtheory.classes.base import MU, Declared
from fedtheory.settings.quantities import composite_gap, distance, gap
from verify.derivation.printed_rounds import Of
from verify.multipliers.cases import stated
from verify.reading.declarations import declarations


def is_convex(claim: Claim, q: Of) -> bool:
    """Return True if a quantity is shown to be convex in the state: the squared distance from x*, or the gap of convex
    functions, as this package computes them."""
    of = claim.setting.functions
    if q is distance:
        return True
    return q in (gap, composite_gap) and stated(claim, of) and _is_convex(declarations(of))


def _is_convex(known: Declared) -> bool:
    bounds = known.relative or known.bounds
    return known.convex or (not known.named and bounds is not None and bounds.least in (0, MU))
