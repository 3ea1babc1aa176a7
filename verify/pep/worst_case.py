"""``certify``: the worst case of a claim over the whole class of functions, at the parameters of an instance."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound
from fedtheory.settings.relations import Comparison
from verify.base.evaluate import leaving, sides
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.pep import chains, posing
from verify.pep.bounding import Refused, bounded, enclosed, escalated, left_domain, posed_as_claimed
from verify.pep.gram import NotLinear, scalar
from verify.pep.prover import Certified, Prover, Solving, weakest


def certify(claim: Claim, instance: Instance, tight: bool = False, prover: Prover | None = None) -> Certified:
    """The worst case of a claim over its class, at the parameters of an exact instance that meets its hypotheses.

    The functions and the state of the instance do not matter, only its class, its number of clients and its
    parameters; what is found holds in every dimension. The claim's own algorithm and quantities are run on formal
    vectors, and must treat all coordinates alike. Of several comparisons the worst is returned. Function values after
    the step are first bounded by smoothness alone (a smaller program, whose optimum is an upper bound); with ``tight``,
    or when that does not prove the claim and the program is small, every point is interpolated, and the interval is
    that of the class itself. ``prover``: what proves the steps, a solver unless told otherwise.

    ``ValueError`` when the statement, its setting or its quantities cannot be posed at these parameters, or a
    hypothesis fails; :class:`Refused` when the claim cannot be certified at any parameters.
    """
    statement = claim.statement
    if not statement.bounding:
        raise Refused(f"no worst case over a class is known for a statement of kind {statement.kind}")
    prover = prover or Solving()
    try:
        with attributed(claim, instance.text):
            anything = posed_as_claimed(claim, instance)
            parts = _parts(statement, claim, instance, anything, tight, prover)
    except NotLinear as error:
        raise ValueError(f"{claim.id} is not linear in inner products and function values: {error}") from error
    size, seconds = max(part.size for part in parts), sum(part.seconds for part in parts)
    return replace(weakest(parts), relaxed=any(part.relaxed for part in parts), size=size, seconds=seconds)


@singledispatch
def _parts(
    statement: Statement, claim: Claim, instance: Instance, anything: bool, tight: bool, prover: Prover
) -> list[Certified]:
    """What a statement rests on: its comparisons, each by itself."""
    comparisons = enumerate(statement.comparisons)
    return [_compare(claim, instance, k, c, anything, tight, prover) for k, c in comparisons]


@_parts.register
def _(
    statement: Bound, claim: Claim, instance: Instance, anything: bool, tight: bool, prover: Prover
) -> list[Certified]:
    if anything:
        raise Refused(f"the hypotheses of {claim.id} allow other functions than those posed")
    return chains.parts(claim, statement, instance, tight, prover)


def _compare(
    claim: Claim, instance: Instance, index: int, comparison: Comparison, anything: bool, tight: bool, prover: Prover
) -> Certified:
    """One comparison left <= right of a statement about one step or one point, ``anything``: for any functions."""
    factor, above = _factor(claim, instance, comparison)
    if factor is not None and factor != above:
        # An irrational multiple of a potential: the side itself is no form, and what is shown is a little more.
        potential = comparison.right / claim.statement.factor
        claim = replace(claim, statement=claim.statement.changed({"right": potential}))
    scale = factor if factor == above else 1

    def against(exact: bool, tight: bool) -> Certified:
        begun = time.perf_counter()
        posed = posing.pose(claim.setting, instance, anything)
        theta = np.zeros((1, 0))
        escaped = leaving(claim, posed.instance, theta)
        if escaped is not None and any(v.coefficients for v in escaped.flat):
            return left_domain(Fraction(0))
        left, right = (scalar(side) for side in sides(claim, posed.instance, theta)[index])
        step = f"comparison {index + 1}{', every point interpolated' if exact else ''}"
        if factor is not None and factor > 0:
            return bounded(prover, step, posed, (left, right / scale), factor, exact, tight, begun)
        return bounded(prover, step, posed, (left, right), Fraction(0), exact, tight, begun)

    found = escalated(against, tight)
    undecided = above is not None and found.lower is not None and found.lower <= above
    return replace(found, verdict=Verdict.OPEN) if undecided and found.verdict is Verdict.REFUTED else found


def _factor(claim: Claim, instance: Instance, comparison: Comparison) -> tuple[Fraction | None, Fraction | None]:
    """Rationals around the number by which the right side multiplies a potential: the factor, or 1 for a multiple of
    one quantity."""
    statement = claim.statement
    if statement.factor is not None:
        return enclosed(statement.factor, claim.setting.bind(instance.problem, instance.params))
    named = {q.expression for q in statement.quantities}
    parts = sympy.Mul.make_args(comparison.right)
    quantities = [e for e in parts if e in named]
    rest = sympy.Mul(*(e for e in parts if e not in named))
    alone = len(quantities) == 1 and not any(rest.has(e) for e in named)
    return (Fraction(1), Fraction(1)) if alone else (None, None)
