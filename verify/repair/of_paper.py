"""Material for a repair from the other claims of a paper: hypotheses, factors and quantities.

Claims that repair another one are left out: a repair is to be found, not copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity
from verify.report.statement import expression as words

_INEQUALITIES = (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)
#: The indices and superscripts of a name.
_INDICES = re.compile(r"[_^](\{[^}]*\}|\w)")
#: The words of what remains.
_WORDS = re.compile(r"[A-Za-z]+")


def others(claim: Claim) -> Iterator[Claim]:
    """Yield the other claims of the paper, without those that repair another one."""
    for other in claims.of_paper(claim.paper).values():
        if not other.repairs and other.id != claim.id.rstrip("*"):
            yield other


def hypotheses(claim: Claim) -> Iterator[Hypothesis]:
    """Yield the hypotheses of other claims of the same setting; and of any setting, inequalities between letters that
    this one has, in their own words: a text of another setting may refer to something missing here.
    """
    known = {h.text for h in claim.requires}
    letters = set(claim.setting.sources)
    for other in others(claim):
        same = other.setting.sources == claim.setting.sources and other.setting.algorithm is claim.setting.algorithm
        for hypothesis in other.requires:
            relation = hypothesis.relation
            if not same:
                alone = hypothesis.met is None and not hypothesis.each and isinstance(relation, _INEQUALITIES)
                if relation is None or not alone or not relation.free_symbols or not relation.free_symbols <= letters:
                    continue
                hypothesis = Hypothesis(f"{words(relation.lhs)} {relation.rel_op} {words(relation.rhs)}", relation)
            if hypothesis.text not in known:
                known.add(hypothesis.text)
                yield hypothesis


def factors(claim: Claim) -> Iterator[sympy.Expr]:
    """Yield the letters of the setting minus a number that occur in other claims, each once."""
    known: set[sympy.Expr] = set()
    for other in others(claim):
        sides = (side for c in other.statement.comparisons for side in (c.left, c.right))
        for node in sorted({n for side in sides for n in side.atoms(sympy.Add)}, key=sympy.default_sort_key):
            alone = len(node.args) == 2 and node.args[0].is_negative and node.args[1].is_Symbol
            if alone and node not in known and node.free_symbols <= set(claim.setting.sources):
                known.add(node)
                yield node


def exchanges(claim: Claim) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield each quantity of the statement with others of the same setting and method whose names differ in indices
    only.

    No declaration groups quantities by sort; names that share their letters are, as a rule, of one sort.
    """
    used = {name for name, _ in mentioned_quantities(claim)}
    known = {q.expression: q for q in claim.statement.quantities if q.expression in used}
    for other in others(claim):
        alike = other.setting.sources.keys() == claim.setting.sources.keys()
        if alike and other.setting.algorithm is claim.setting.algorithm:
            # Quantities that a claim declares without using them may be shared with its repair.
            there = {name for name, _ in mentioned_quantities(other)}
            for q in other.statement.quantities:
                if q.expression in there:
                    known.setdefault(q.expression, q)
    for old in claim.statement.quantities:
        for name, new in known.items():
            if (
                old.expression in used
                and name != old.expression
                and new.after == old.after
                and _stem(old) == _stem(new)
            ):
                yield old, new


def _stem(quantity: Quantity) -> frozenset[str]:
    """Return the words in the name of a quantity, without indices and superscripts."""
    return frozenset(_WORDS.findall(_INDICES.sub("", str(quantity.expression))))


def mentioned_quantities(claim: Claim) -> set[tuple[sympy.Expr, bool]]:
    """Return the quantities in the formulas, each by its name and True if it is taken after a step."""
    sides = sympy.Tuple(*(side for c in claim.statement.comparisons for side in (c.left, c.right)))
    return {(q.expression, q.after) for q in claim.statement.quantities if sides.has(q.expression)}
