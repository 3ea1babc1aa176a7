"""Decide whether quantities are convex in the state, for Jensen's inequality."""

from __future__ import annotations

from fedtheory.claims import Claim
from fedtheory.settings.quantities import distance, gap
from verify.derivation.printed_rounds import Of
from verify.multipliers.cases import stated
from verify.reading.declarations import declarations


def is_convex(claim: Claim, q: Of) -> bool:
    """Return True if a quantity is shown to be convex in the state: the squared distance from x*, or the gap of convex
    functions, as this package computes them."""
    of = claim.setting.functions
    return q is distance or (q is gap and declarations(of).convex and stated(claim, of))
