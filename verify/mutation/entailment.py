"""Whether a changed claim follows from the original: it promises less, or asks for what can be had anyway."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Start
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.rational import Array
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.evaluate import hypotheses_hold, meeting, sides
from verify.exact import reals, symbolic

#: Recipes among which instances that break a hypothesis are looked for, and how many of them there must be.
_PROPOSED, _TRIED = 200, 3


def follows(changed: Claim, original: Claim) -> bool:
    """Whether the changed claim is a consequence of the original, for all parameters; False proves nothing."""
    relations = symbolic.assumed(changed)
    if any(not _assumed(h, changed, relations) for h in original.requires):
        return changed.statement == original.statement and _at_no_cost(changed, original)
    if changed.statement == original.statement:
        return True
    pairs = _larger(changed.statement, original.statement)
    return pairs is not None and all(reals.at_most(a, b, relations) for a, b in pairs)


def _assumed(hypothesis: Hypothesis, changed: Claim, relations: list[sympy.Basic]) -> bool:
    """Whether the changed claim assumes at least this."""
    if hypothesis in changed.requires:
        return True
    if hypothesis.relation is None or hypothesis.met is not None or hypothesis.each:
        return False
    return reals.implied(hypothesis.relation, relations)


def _at_no_cost(changed: Claim, original: Claim) -> bool:
    """Whether an instance may declare other constants of its functions, with which it meets the original hypotheses.

    That is so if neither the statement nor what the changed claim requires ever reads the constants declared, which
    is tried on instances that only the changed claim allows: there is nothing to read.
    """
    proposed = islice(changed.instances.recipes(np.random.default_rng(0)), _PROPOSED)
    tried = 0
    for _, built in meeting(changed, proposed):
        if built.problem is None or hypotheses_hold(original, built):
            continue
        f = built.problem.f
        try:
            silent, true = _declaring(built, object(), object()), _declaring(built, min(f.mu), max(f.L))
            read = [left - right for left, right in sides(changed, silent, np.zeros((1, built.dimension), dtype=int))]
            if not (read and hypotheses_hold(changed, silent) and hypotheses_hold(original, true)):
                return False
        except (TypeError, ValueError, AttributeError):
            return False
        tried += 1
    return tried >= _TRIED


def _declaring(instance: Instance, mu: Any, L: Any) -> Instance:
    """The instance with other constants declared of its functions."""

    def redeclared(start: Start) -> Start:
        def at(theta: Array) -> tuple[Any, Any]:
            problem, state = start(theta)
            return replace(problem, declared=(mu, L)), state

        return at

    initial = None if instance.initial is None else redeclared(instance.initial)
    problem = replace(instance.problem, declared=(mu, L))
    return replace(instance, problem=problem, at=redeclared(instance.at), initial=initial)


def _larger(changed: Statement, original: Statement) -> list[tuple[sympy.Expr, sympy.Expr]] | None:
    """Pairs (a, b) of which a <= b makes the changed statement the weaker one; None where anything else has changed.

    Potentials and factors of claims that hold are nonnegative.
    """
    match changed, original:
        case OneStep(factor=sympy.Expr()), OneStep(factor=sympy.Expr()):
            a, b = original.factor, changed.factor
            scaled = changed.right == original.right / a * b
            same = scaled and replace(changed, factor=a, right=original.right) == original
            return [(a, b)] if same else None
        case Bound(), Bound(override=None):
            same = replace(changed, factor=original.factor, constant=original.constant) == original
            return [(original.factor, changed.factor), (original.constant, changed.constant)] if same else None
        case CompressorClass(), CompressorClass():
            same = replace(changed, omega=original.omega) == original
            return [(original.omega, changed.omega)] if same else None
    return None
