"""Objects of what is proved in closed form: relations between letters, and identities whose weights a paper states.

Letters and what their hypotheses say of them become a domain; a hypothesis that is not a relation of quotients of
polynomials is left out, and so are those that are not needed.

Relations with roots, maxima and whole parts are written as relations of quotients of polynomials, in more letters and
in cases: a root is a letter, and what it is the root of is written by it; a number that is rounded is a letter of which
its bounds are known; which argument a maximum is makes a case. So the result of z3's procedure is confirmed by another
one, and checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import lcm
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.settings.relations import Comparison
from verify import checker
from verify.exact import reals, symbolic
from verify.export.for_all_letters import Writing
from verify.export.objects import sealed
from verify.methods import identities
from verify.multipliers.case_letters import at_least
from verify.multipliers.domains import Domain
from verify.multipliers.ratios import Ratio, from_terms, polynomials
from verify.pep.gram import Form, Vector
from verify.report import statement

#: The row of what stands alone in a form.
_NUMBER = "1"
#: Hypotheses that are left out at most where all together are not written by slacks.
_LEFT_OUT = 2
#: Terms of hypotheses of which charts are looked for: it takes long for others, which are left out.
_MOST = 8


class _Letters:
    """Letters, and expressions in them as quotients of polynomials."""

    def __init__(self, symbols: Iterable[sympy.Symbol]) -> None:
        self.symbols = sorted(symbols, key=str)
        self.names = tuple(map(str, self.symbols))
        if len(set(self.names)) < len(self.names):
            raise ValueError("two letters have one name")
        if any(not s.is_nonnegative for s in self.symbols):
            raise ValueError("a letter has no sign")
        self.ring = polynomials(self.names)

    def ratio(self, expression: Any) -> Ratio:
        """Raise ``ValueError`` unless it is a quotient of polynomials."""
        whole = sympy.sympify(expression)
        if not whole.is_rational_function(*self.symbols) or whole.has(sympy.Float):
            raise ValueError(f"{whole} is not a quotient of polynomials")
        parts = sympy.fraction(sympy.cancel(sympy.together(whole)))
        return Ratio.of(*map(self._polynomial, parts))

    def _polynomial(self, expression: sympy.Expr) -> Any:
        none = (0,) * max(1, len(self.symbols))
        if not self.symbols:
            return from_terms(self.ring, {none: _fraction(expression)})
        try:
            of = sympy.Poly(expression, *self.symbols).terms()
        except sympy.PolynomialError as error:
            raise ValueError(f"{expression} is not a polynomial") from error
        return from_terms(self.ring, {m: _fraction(c) for m, c in of})

    def domains(self, relations: Sequence[sympy.Basic]) -> Iterator[Domain]:
        """The domain of all hypotheses that can be written, then those with some of them left out.

        What is shown without a hypothesis holds with it.
        """
        written = [c for relation in symbolic.conjuncts(relations) for c in self._constraints(relation)]
        written += [(self.ratio(s - 1), False) for s in self.symbols if s.is_integer and s.is_positive]
        # Quotients last: what they are divided by has a sign once the others are known.
        written.sort(key=lambda c: len(c[0].den))
        positive = frozenset(i for i, s in enumerate(self.symbols) if s.is_positive)
        for count in range(min(_LEFT_OUT, len(written)) + 1):
            for left_out in combinations(range(len(written)), count):
                domain = Domain(self.ring, positive)
                for gap, strict in (c for k, c in enumerate(written) if k not in left_out):
                    more = at_least(domain, gap, strict)
                    domain = more if all(len(c.poly) <= _MOST for c in more.constraints) else domain
                yield domain

    def _constraints(self, relation: sympy.Rel) -> Iterator[tuple[Ratio, bool]]:
        if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
            return
        small, large = relation.lts, relation.gts
        smalls = small.args if isinstance(small, sympy.Max) else (small,)
        larges = large.args if isinstance(large, sympy.Min) else (large,)
        for a in smalls:
            for b in larges:
                gap = b - a
                if gap.free_symbols <= set(self.symbols) and gap.is_rational_function(*self.symbols):
                    yield self.ratio(gap), isinstance(relation, sympy.Lt | sympy.Gt)


def _fraction(c: Any) -> Fraction:
    if not c.is_Rational:
        raise ValueError(f"{c} is not a fraction")
    return Fraction(int(c.p), int(c.q))


def of_relations(claim: Claim) -> list[dict[str, Any]]:
    """The objects of a claim about constants: every difference is a product of factors of known signs.

    One for each choice of the signs of letters that have none. Raise ``ValueError`` if they are not written so.
    """
    comparisons, relations = list(claim.statement.comparisons), symbolic.assumed(claim)
    symbols = {s for left, _, right in comparisons for s in (left - right).free_symbols}
    unsigned = sorted((s for s in symbols if s.is_real and s.is_nonnegative is None), key=str)
    found = []
    for signs in product((1, -1), repeat=len(unsigned)):
        sizes = {
            s: sign * sympy.Dummy(f"size of {s}", nonnegative=True) for s, sign in zip(unsigned, signs, strict=True)
        }
        chosen = [f"in the case {s} = {size}" for s, size in sizes.items()]
        cases = [Comparison(left.subs(sizes), by, right.subs(sizes)) for left, by, right in comparisons]
        found.append(of_gaps(claim, cases, [relation.subs(sizes) for relation in relations], chosen))
    return found


def of_gaps(
    claim: Claim, comparisons: Iterable[Comparison], relations: Sequence[sympy.Basic], says: Sequence[str]
) -> dict[str, Any]:
    """The object of comparisons that follow from relations, with further remarks. Raise ``ValueError`` as above."""
    gaps = list(_gaps(comparisons))
    solved, relations = _solved(relations)
    gaps = [(text, gap.subs(solved), strict) for text, gap, strict in gaps]
    symbols = {s for _, gap, _ in gaps for s in gap.free_symbols}
    symbols |= {s for r in symbolic.conjuncts(relations) for s in r.free_symbols if s.is_nonnegative}
    letters = _Letters(symbols)
    return _first(claim, letters, relations, lambda writing: [_signed(writing, letters, *gap) for gap in gaps], says)


def _gaps(comparisons: Iterable[Comparison]) -> Iterator[tuple[str, sympy.Expr, bool | None]]:
    """Each comparison in words, its right side less the left one, and whether it is strict; None for an equation."""
    for left, relation, right in comparisons:
        if relation == "==":
            yield f"{statement.expression(left)} == {statement.expression(right)}", left - right, None
            continue
        lefts = left.args if isinstance(left, sympy.Max) else (left,)
        rights = right.args if isinstance(right, sympy.Min) else (right,)
        for a in lefts:
            for b in rights:
                yield f"{statement.expression(a)} {relation} {statement.expression(b)}", b - a, relation == "<"


def _solved(relations: Sequence[sympy.Basic]) -> tuple[dict[sympy.Symbol, sympy.Expr], list[sympy.Basic]]:
    """Letters that are equal to expressions in others, and the other relations in those."""
    found: dict[sympy.Symbol, sympy.Expr] = {}
    waiting: list[sympy.Basic] = list(symbolic.conjuncts(relations))
    for relation in list(waiting):
        here = relation.subs(found)
        if isinstance(here, sympy.Eq) and here.lhs.is_Symbol and here.lhs not in here.rhs.free_symbols:
            found = {s: e.subs(here.lhs, here.rhs) for s, e in found.items()} | {here.lhs: here.rhs}
    kept = [r.subs(found) for r in waiting]
    # Facts about a letter hold for the expression that it equals.
    kept += [sympy.Gt(e, 0) for s, e in found.items() if s.is_positive]
    return found, [r for r in kept if isinstance(r, sympy.Rel) and not isinstance(r, sympy.Eq)]


def _signed(writing: Writing, letters: _Letters, text: str, gap: sympy.Expr, strict: bool | None) -> dict[str, Any]:
    """Minus a gap is at most 0: it is minus a square with the gap for its weight."""
    if strict is None:
        return _vanishing(writing, letters, text, gap)
    of = letters.ratio(gap)
    if strict:
        writing.keep(of.num)
    square = {**writing.weight(of), "vector": {_NUMBER: "1"}}
    words = "the target, left - right, is " + ("below 0: it is not 0" if strict else "at most 0")
    target = {f"{_NUMBER}|{_NUMBER}": writing.ratio(-of)} if not of.is_zero else {}
    return {"claimed": f"{text}: {words}", "target": target, "known": [], "squares": [square] if target else []}


def _vanishing(writing: Writing, letters: _Letters, text: str, gap: sympy.Expr) -> dict[str, Any]:
    """Terms whose sum is 0 once they have one denominator: the checker multiplies out, and nothing is left."""
    if not letters.ratio(gap).is_zero:
        raise ValueError(f"{text} is not an identity in the letters")
    terms = [letters.ratio(term) for term in sympy.Add.make_args(gap)]
    below = terms[0].den
    for term in terms[1:]:
        below = below * term.den / below.gcd(term.den)
    num = [entry for term in terms for entry in writing.polynomial(term.num * (below / term.den))]
    writing.keep(below)
    target = {f"{_NUMBER}|{_NUMBER}": {"num": num, "den": writing.polynomial(below)}}
    return {"claimed": f"{text}: the target, left - right, is 0", "target": target, "known": [], "squares": []}


def of_identities(claim: Claim) -> dict[str, Any]:
    """The object of the identities that prove a claim. Raise ``ValueError`` if they are not written as one."""
    posed = identities.pose(claim)
    forms = [form for p, _ in posed for form in (p.gap, *p.known.values())]
    coefficients = [c for form in forms for c in (*form.entries.values(), *form.values.values(), form.constant)]
    coefficients += [w for _, ws in posed for w in (*ws.multipliers.values(), *(c for c, _ in ws.squares))]
    coefficients += [c for _, ws in posed for _, v in ws.squares for c in v.coefficients.values()]
    coefficients += [e for p, _ in posed for e in p.slack.values()]
    solved, relations = _solved(symbolic.assumed(claim))
    stood_for = dict.fromkeys(e.subs(solved) for p, _ in posed for e in p.slack.values())
    slacks = {s for p, _ in posed for s in p.slack}
    why = ValueError("no identity is known")
    for known in (solved, *_freed(stood_for, solved, relations)):
        kept = relations + [r for e in stood_for if isinstance(r := e.subs(known) >= 0, sympy.Rel)]
        letters = _Letters({s for c in coefficients for s in sympy.sympify(c).subs(known).free_symbols} - slacks)
        programs = partial(_identities, letters, known, posed)
        try:
            return _first(claim, letters, kept, programs)
        except ValueError as error:
            why = error
    raise why


def _freed(
    stood_for: Iterable[sympy.Expr], solved: Mapping[Any, Any], relations: Sequence[sympy.Basic]
) -> Iterator[dict[Any, Any]]:
    """Letters solved for an expression that is nonnegative, which becomes a letter: where a letter, as a factor of a
    rate, occurs only there, its own sign is not needed."""
    symbols = {s for r in relations for s in r.free_symbols}
    for e in stood_for:
        for x in sorted(e.free_symbols - symbols, key=str):
            if sympy.diff(e, x) == 1:
                slack = sympy.Dummy(f"slack of {x}", nonnegative=True)
                yield {**solved, x: slack + x - e}


def _identities(letters: _Letters, solved: Mapping[Any, Any], posed: Any, writing: Writing) -> list[dict[str, Any]]:
    return [_identity(writing, letters, solved, p, w) for p, w in posed]


def _identity(writing: Writing, letters: _Letters, solved: Mapping[Any, Any], posed: Any, weights: Any) -> Any:
    """One inequality. Vectors of different blocks are orthogonal, so that a square is that of its part in each."""

    def plain(c: Any) -> sympy.Expr:
        return sympy.sympify(c).subs(posed.slack).subs(solved)

    def form(of: Form) -> dict[str, Any]:
        found = {"|".join(map(_row, pair)): letters.ratio(plain(c)) for pair, c in of.entries.items()}
        found |= {str(name).replace("|", "/"): letters.ratio(plain(c)) for name, c in of.values.items()}
        found[f"{_NUMBER}|{_NUMBER}"] = letters.ratio(plain(of.constant))
        return {key: writing.ratio(c) for key, c in found.items() if not c.is_zero}

    def parts(of: Vector) -> Iterator[dict[str, Any]]:
        for block in sorted({row.block for row in of.coefficients}):
            found = {_row(row): letters.ratio(plain(c)) for row, c in of.coefficients.items() if row.block == block}
            yield {row: writing.ratio(c) for row, c in found.items() if not c.is_zero}

    return {
        "claimed": f"{posed.name}: the target is at most 0",
        "target": form(-posed.gap),
        "known": [
            {"name": name, "words": name, "form": form(posed.known[name]), **writing.weight(letters.ratio(plain(w)))}
            for name, w in weights.multipliers.items()
        ],
        "squares": [
            {**writing.weight(letters.ratio(plain(w))), "vector": part} for w, v in weights.squares for part in parts(v)
        ],
    }


def _row(row: Any) -> str:
    return f"{row.block}: {row.name}".replace("|", "/")


def _first(
    claim: Claim, letters: _Letters, relations: Sequence[sympy.Basic], programs: Any, says: Sequence[str] = ()
) -> dict[str, Any]:
    """The object on the first domain on which all signs are shown."""
    reasons = []
    for domain in letters.domains(relations):
        writing = Writing(domain, letters.names, range(len(letters.names)))
        try:
            made: Mapping[str, Any] = {"programs": programs(writing), **writing.signs()}
        except ValueError as error:
            reasons.append(str(error))
            continue
        head = {"format": checker.FORMAT, "kind": "identity", "claim": claim.id}
        return sealed({**head, "says": [*statement.text(claim), *says], "at": {}, **made})
    raise ValueError(reasons[0])


_RELATIONS = {"==": sympy.Eq, "<=": sympy.Le, "<": sympy.Lt}


def of_algebraic(claim: Claim) -> list[dict[str, Any]]:
    """An object for each comparison of a claim about constants in each case. Raise ``ValueError`` if one has none."""
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
            found.append(of_gaps(claim, [Comparison(sides[0], by, sides[1])], given, [chosen, *more]))
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
        relations += [
            sympy.Ge(root, 1) for root in sorted(value.free_symbols, key=str) if s.is_integer and s.is_positive
        ]
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
