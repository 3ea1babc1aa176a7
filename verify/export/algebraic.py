"""Relations with roots, maxima and whole parts as relations of quotients of polynomials, in more letters and in cases.

A root is a letter, and what it is the root of is written by it; a number that is rounded is a letter of which its
bounds are known; which argument a maximum is makes a case. So what z3's procedure says is said by another, and checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lcm
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.settings.relations import Comparison
from verify.exact import reals, symbolic
from verify.export import closed
from verify.report import statement

_RELATIONS = {"==": sympy.Eq, "<=": sympy.Le, "<": sympy.Lt}


def of(claim: Claim) -> list[dict[str, Any]]:
    """An object for each comparison of a claim about constants in each case. ``ValueError`` where one has none."""
    found = []
    for comparison in claim.statement.comparisons:
        by = comparison.relation
        relation = _RELATIONS[by](comparison.left, comparison.right, evaluate=False)
        for one, given in reals.cases(relation, list(symbolic.conjuncts(symbolic.assumed(claim)))):
            if one is sympy.true:
                continue
            if reals.contradictory(given) or not isinstance(one, sympy.Rel):
                raise ValueError("a case that does not occur is shown by z3 alone")
            sides, given, more = _rational([one.lhs, one.rhs], given)
            chosen = f"in the case {statement.expression(one.lhs)} {by} {statement.expression(one.rhs)}"
            found.append(closed.of_gaps(claim, [Comparison(sides[0], by, sides[1])], given, [chosen, *more]))
    return found


def _rational(
    sides: list[sympy.Expr], given: Sequence[sympy.Basic]
) -> tuple[list[sympy.Expr], list[sympy.Basic], list[str]]:
    """Sides and relations in letters for roots and for what is rounded, and what these letters are."""
    whole, relations, says = list(sides), list(given), list[str]()
    for node in sorted(sympy.Tuple(*whole, *relations).atoms(sympy.ceiling, sympy.floor), key=sympy.default_sort_key):
        x, up = node.args[0], isinstance(node, sympy.ceiling)
        if not x.is_nonnegative:
            raise ValueError(f"the sign of {node} is not known")
        sign = {"positive": True} if up and x.is_positive else {"nonnegative": True}
        y = sympy.Dummy(f"rounded {len(says)}", integer=True, **sign)
        whole, relations = ([part.xreplace({node: y}) for part in parts] for parts in (whole, relations))
        low, high = (x, x + 1) if up else (x - 1, x)
        bounds = [sympy.Le, sympy.Lt] if up else [sympy.Lt, sympy.Le]
        relations += [bounds[0](low, y, evaluate=False), bounds[1](y, high, evaluate=False)]
        says.append(f"{y.name} is {statement.expression(node)}")
    for s, value, text in _roots(sympy.Tuple(*whole, *relations)):
        whole, relations = ([sympy.sympify(part).subs(s, value) for part in parts] for parts in (whole, relations))
        relations += [sympy.Gt(value, 0)] if s.is_positive and not value.is_positive else []
        # A root of what is at least 1 is.
        relations += [sympy.Ge(root, 1) for root in value.free_symbols if s.is_integer and s.is_positive]
        says.append(text)
    return whole, [r for r in relations if isinstance(r, sympy.Rel)], says


def _roots(of: sympy.Tuple) -> Iterator[tuple[sympy.Symbol, sympy.Expr, str]]:
    """Letters that are written by roots, what they are then, and that in words."""
    powers = [p for p in of.atoms(sympy.Pow) if p.exp.is_Rational and not p.exp.is_Integer]
    for s in sorted({p.base for p in powers if p.base.is_Symbol}, key=str):
        q = lcm(*(int(p.exp.q) for p in powers if p.base == s))
        root = sympy.Dummy(f"root of {s}", positive=s.is_positive, nonnegative=True)
        yield s, root**q, f"({root.name})^{q} = {s}"
    for base in sorted({p.base for p in powers if not p.base.is_Symbol}, key=sympy.default_sort_key):
        for s in sorted(base.free_symbols, key=str):
            slope = sympy.diff(base, s)
            if slope.is_Rational and slope and not any(p.base == s for p in powers):
                root = sympy.Dummy(f"root of {base}", nonnegative=True)
                yield s, sympy.expand((root**2 - base) / slope + s), f"({root.name})^2 = {base}"
                break
