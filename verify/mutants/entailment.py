"""Whether a changed claim follows from the original: it promises less, or asks for more."""

from __future__ import annotations

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
    return all(_at_most(a, b, relations) for a, b in _larger(changed.statement, original.statement)) and _alike(
        changed.statement, original.statement
    )


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


def _larger(changed: Statement, original: Statement) -> list[tuple[sympy.Expr, sympy.Expr]]:
    """Pairs (a, b) of which a <= b makes the changed statement the weaker one; potentials are nonnegative."""
    match changed, original:
        case (OneStep(factor=sympy.Expr()), OneStep(factor=sympy.Expr())):
            return [(original.factor, changed.factor)]
        case (Bound(override=None), Bound(override=None)):
            return [(original.factor, changed.factor), (original.constant, changed.constant)]
        case (Inequality(middle=None, quantities=()), Inequality(middle=None, quantities=())):
            return [(original.right, changed.right), (changed.left, original.left)]
        case (CompressorClass(), CompressorClass()):
            return [(original.omega, changed.omega)]
    return [(sympy.S.One, sympy.S.Zero)]


def _alike(changed: Statement, original: Statement) -> bool:
    """Whether nothing else has changed."""
    names: tuple[str, ...] = ("algorithm", "compressor", "bits", "quantities", "initial", "assignments", "relations")
    # The sides of an inequality are compared; those of a step or a bound beside its factor are not.
    names += ("left",) if isinstance(changed, OneStep | Bound) else ()
    return all(getattr(changed, name, None) == getattr(original, name, None) for name in names)


def _at_most(a: sympy.Expr, b: sympy.Expr, relations: list[sympy.Basic]) -> bool:
    """Whether a <= b by the steps of :mod:`verify.symbolic`; a maximum is compared argument by argument."""
    if a == b:
        return True
    lefts = a.args if isinstance(a, sympy.Max) else (a,)
    rights = b.args if isinstance(b, sympy.Max) else (b,)
    return all(any(symbolic.at_most(left, right, relations) for right in rights) for left in lefts)
