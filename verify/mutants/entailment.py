"""Whether a changed claim follows from the original: it promises less, or asks for more."""

from __future__ import annotations

from dataclasses import replace

import sympy

from fedtheory.claims import Claim, Hypothesis
from fedtheory.statements import Bound, CompressorClass, Inequality, OneStep, Statement
from verify import symbolic


def follows(changed: Claim, original: Claim) -> bool:
    """Whether the changed claim is a consequence of the original, for all parameters; False proves nothing."""
    relations = symbolic.assumed(changed)
    if any(not _assumed(h, changed, relations) for h in original.requires):
        return False
    if changed.statement == original.statement:
        return True
    pairs = _larger(changed.statement, original.statement)
    return pairs is not None and all(_at_most(a, b, relations) for a, b in pairs)


def _assumed(hypothesis: Hypothesis, changed: Claim, relations: list[sympy.Basic]) -> bool:
    """Whether the changed claim assumes at least this."""
    if hypothesis in changed.requires:
        return True
    asked = hypothesis.relation
    if not isinstance(asked, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
        return False
    same_kind = (h.relation for h in changed.requires if h.met is hypothesis.met and isinstance(h.relation, sympy.Rel))
    candidates = [relation for relation in same_kind if relation.func is asked.func]
    others = [r for r in relations if all(r is not candidate for candidate in candidates)]
    return any(_at_most(_gap(candidate), _gap(asked), others) for candidate in candidates)


def _gap(relation: sympy.Rel) -> sympy.Expr:
    return relation.gts - relation.lts


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
        case Inequality(), Inequality(middle=None, quantities=()):
            same = replace(changed, left=original.left, right=original.right) == original
            return [(original.right, changed.right), (changed.left, original.left)] if same else None
        case CompressorClass(), CompressorClass():
            same = replace(changed, omega=original.omega) == original
            return [(original.omega, changed.omega)] if same else None
    return None


def _at_most(a: sympy.Expr, b: sympy.Expr, relations: list[sympy.Basic]) -> bool:
    """Whether a <= b by the steps of :mod:`verify.symbolic`; a maximum is compared argument by argument."""
    if a == b:
        return True
    lefts = a.args if isinstance(a, sympy.Max) else (a,)
    rights = b.args if isinstance(b, sympy.Max) else (b,)
    return all(any(symbolic.at_most(left, right, relations) for right in rights) for left in lefts)
