"""Relations between constants, decided over the real numbers by z3.

Where :mod:`verify.exact.symbolic` finds no derivation, the negation of a relation is given to z3's decision procedure
for polynomials over the reals. If it finds that no real numbers satisfy it, the relation holds for all values of its
symbols. Integers are relaxed to reals, and nothing is claimed where an expression is undefined."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy
import z3

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.sums import terms_of
from fedtheory.numbers.symbols import T
from fedtheory.settings.relations import Comparison
from verify.exact import solvers, symbolic

#: Effort after which z3 gives up, in its own units, so that the answer does not depend on the machine.
EFFORT = 2_000_000

_RELATIONS = {"==": sympy.Eq, "<=": sympy.Le, "<": sympy.Lt}
_MEANING = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}


class _Untranslated(ValueError):
    """Raised for an expression that is not an algebraic function of its symbols."""


def applies(claim: Claim) -> bool:
    """Return True if a claim involves constants only."""
    return claim.statement.scope in (Scope.STATE, Scope.LETTERS) and not claim.statement.quantities


def proves(claim: Claim) -> bool:
    """Return True if a claim about constants is proved for all values of its symbols; False proves nothing."""
    if not applies(claim):
        return False
    relations = symbolic.assumed(claim)
    return all(holds(comparison, relations) for comparison in claim.statement.comparisons)


def suspects(claim: Claim) -> Iterator[Recipe]:
    """Values of the letters at which z3 finds a comparison of a claim about constants alone broken, to be confirmed.

    Integers, which it takes for reals, are rounded up and down; what is irrational is cut off.
    """
    for comparison in claim.statement.comparisons:
        relation = _RELATIONS[comparison.relation](comparison.left, comparison.right, evaluate=False)
        yield from _breaking(claim, relation)


def holes(claim: Claim) -> Iterator[Recipe]:
    """Values of the letters at which z3 finds a part of a claim about constants alone to be no real number, as
    :func:`suspects`; a letter that may make an exponent an integer is moved off it."""
    part = undefined(claim)
    if not isinstance(part, sympy.log | sympy.Pow):
        return
    bounds = (sympy.Gt,) if isinstance(part, sympy.log) else (sympy.Ge, sympy.Ne)
    for bound in bounds:
        for recipe in _breaking(claim, bound(part.args[0], 0, evaluate=False)):
            yield recipe
            moved = {str(x) for x in part.args[-1].free_symbols if isinstance(part, sympy.Pow) and not x.is_integer}
            yield {name: value + Fraction(1, 2) if name in moved else value for name, value in recipe.items()}


def _breaking(claim: Claim, relation: sympy.Basic) -> Iterator[Recipe]:
    """Values of the letters at which z3 finds the hypotheses met and a relation broken."""
    letters = sorted(claim.setting.sources or _letters(claim), key=str)
    for one, given in cases(relation, symbolic.assumed(claim)):
        translation = _Translation()
        try:
            unknowns = [translation.of(x) for x in letters]
            conditions, conclusion = translation.case(one, given)
        except _Untranslated:
            continue
        found = _model([*conditions, z3.Not(conclusion)], unknowns)
        for rounding in (math.ceil, math.floor) if found is not None else ():
            values = zip(letters, found or (), strict=True)
            yield {str(x): rounding(v) if x.is_integer else v for x, v in values}


def _letters(claim: Claim) -> set[sympy.Basic]:
    """The letters of a claim about constants alone."""
    compared = (side for c in claim.statement.comparisons for side in (c.left, c.right))
    return sympy.Tuple(*compared, *symbolic.assumed(claim)).free_symbols


def unreal(claim: Claim) -> str:
    """Why a proof about numbers says nothing: a part of the claim that may be no number; empty where all are."""
    part = undefined(claim)
    return "" if part is None else f"left open: {part} is not shown to be a real number wherever the hypotheses hold"


def undefined(claim: Claim) -> sympy.Expr | None:
    """A part of a claim's sides that is not shown to be real and finite wherever the hypotheses hold, or None.

    Roots are of what is nonnegative, and nothing is divided by zero, also in constants that are assigned and in
    relations before these are put in, where they may cancel. A power of an unknown exponent is of a positive base, or
    its exponent is shown to be an integer or nonnegative. Terms of a sum are looked at over the range of its index.
    """
    statement, given, since = claim.statement, symbolic.assumed(claim), getattr(claim.statement, "since", 0)
    if since:
        given.append(sympy.Ge(T, since, evaluate=False))
    sides = {side for c in statement.comparisons for side in (c.left, c.right)} | set(statement.assignments.values())
    if (part := undefined_part(sides, given)) is not None or not statement.assignments:
        return part
    assigned = [sympy.Eq(x, value, evaluate=False) for x, value in statement.assignments.items()]
    printed = {side for c in getattr(statement, "printed", ()) for side in (c.left, c.right)}
    return undefined_part(printed, [*given, *assigned])


def undefined_part(sides: Iterable[sympy.Expr], hypotheses: list[sympy.Basic]) -> sympy.Expr | None:
    """As :func:`undefined`, of expressions and hypotheses."""
    nodes: dict[sympy.Expr, list[tuple[sympy.Rel, ...]]] = {}
    for side in sides:
        for node, ranges in _parts(side, ()):
            nodes.setdefault(node, []).append(ranges)
    for node in sorted(nodes, key=sympy.default_sort_key):
        # Within a sum less is asked, since a sum of nothing has no terms: what also stands outside is looked at there.
        for ranges in [()] if () in nodes[node] else nodes[node]:
            if not _is_defined(node, [*hypotheses, *ranges]):
                return node
    return None


def _parts(e: sympy.Expr, ranges: tuple[sympy.Rel, ...]) -> Iterator[tuple[sympy.Expr, tuple[sympy.Rel, ...]]]:
    """All parts of an expression, with the ranges of the indices of which they speak."""
    yield e, ranges
    if isinstance(e, sympy.Sum | sympy.Product):
        inner, own = terms_of(e)
        yield from _parts(inner, (*ranges, *own))
    for part in e.limits[0][1:] if isinstance(e, sympy.Sum | sympy.Product) else e.args:
        yield from _parts(part, ranges)


def _is_defined(node: sympy.Expr, given: list[sympy.Basic]) -> bool:
    """Return True if an expression is shown to be a real number where its parts are."""
    if isinstance(node, sympy.log):
        return _implies_positive(node.args[0], given)
    if isinstance(node, sympy.Sum | sympy.Product):
        return all(end.is_integer for end in node.limits[0][1:])
    if not isinstance(node, sympy.Pow) or node.base.is_positive:
        return True
    base, exponent = node.base, node.exp
    root = not exponent.is_integer
    if root and not base.is_nonnegative and not _at_least_zero(base, given):
        return False
    # The power 0 of 0 is 1.
    divides = exponent.is_negative if exponent.is_number else not _nonnegative(exponent, given)
    return not divides or bool(base.is_nonzero) or _nonzero(base, given, root)


def _nonnegative(e: sympy.Expr, given: list[sympy.Basic]) -> bool:
    return bool(e.is_nonnegative) or _at_least_zero(e, given)


def _at_least_zero(base: sympy.Expr, hypotheses: list[sympy.Basic]) -> bool:
    return symbolic.at_most(sympy.S.Zero, base, hypotheses) or at_most(sympy.S.Zero, base, hypotheses)


def _implies_positive(base: sympy.Expr, hypotheses: list[sympy.Basic]) -> bool:
    return symbolic.below(sympy.S.Zero, base, hypotheses) or holds(Comparison(sympy.S.Zero, "<", base), hypotheses)


def _nonzero(base: sympy.Expr, hypotheses: list[sympy.Basic], root: bool) -> bool:
    if _implies_positive(base, hypotheses):
        return True
    return not root and (_implies_positive(-base, hypotheses) or implied(sympy.Ne(base, 0, evaluate=False), hypotheses))


def at_most(a: sympy.Expr, b: sympy.Expr, hypotheses: Iterable[sympy.Basic]) -> bool:
    """Return True if a <= b is proved for all values of the symbols that meet the hypotheses; False proves nothing."""
    return holds(Comparison(a, "<=", b), hypotheses)


def holds(comparison: Comparison, hypotheses: Iterable[sympy.Basic]) -> bool:
    """Return True if a comparison is proved for all values of the symbols that meet the hypotheses; False proves
    nothing.
    """
    return implied(_RELATIONS[comparison.relation](comparison.left, comparison.right, evaluate=False), hypotheses)


def implied(relation: sympy.Basic, hypotheses: Iterable[sympy.Basic]) -> bool:
    """Return True if a relation is proved for all values of the symbols that meet the hypotheses; False proves nothing.

    Unsatisfiable hypotheses imply nothing here.
    """
    try:
        translated = [_Translation().case(*case) for case in cases(relation, list(hypotheses))]
    except _Untranslated:
        return False
    possible = any(_decided(given) == z3.sat for given, _ in translated)
    return possible and all(_decided([*given, z3.Not(conclusion)]) == z3.unsat for given, conclusion in translated)


def contradictory(hypotheses: Iterable[sympy.Basic]) -> bool:
    """Return True if the hypotheses are proved unsatisfiable; False proves nothing."""
    return (answers := _answers(hypotheses)) is not None and all(answer == z3.unsat for answer in answers)


def possible(hypotheses: Iterable[sympy.Basic]) -> bool:
    """Return True if the hypotheses are proved satisfiable; False proves nothing."""
    return (answers := _answers(hypotheses)) is not None and any(answer == z3.sat for answer in answers)


def _answers(hypotheses: Iterable[sympy.Basic]) -> Iterator[z3.CheckSatResult] | None:
    """z3's answer to each case of the hypotheses; None if these are beyond it."""
    try:
        translated = [_Translation().case(sympy.true, assumed) for _, assumed in cases(sympy.true, list(hypotheses))]
    except _Untranslated:
        return None
    return (_decided(given) for given, _ in translated)


def cases(relation: sympy.Basic, hypotheses: list[sympy.Basic]) -> Iterator[tuple[sympy.Basic, list[sympy.Basic]]]:
    """The relation and the hypotheses, once for each argument that each maximum or minimum in them may be."""
    found = sorted(sympy.Tuple(relation, *hypotheses).atoms(sympy.Max, sympy.Min), key=sympy.default_sort_key)
    node = next((node for node in found if not any(a.has(sympy.Max, sympy.Min) for a in node.args)), None)
    if node is None:
        yield relation, hypotheses
        return
    order = sympy.Ge if isinstance(node, sympy.Max) else sympy.Le
    for one in node.args:
        extreme = [order(one, other, evaluate=False) for other in node.args if other is not one]
        chosen = [_chosen(h, {node: one}) for h in hypotheses]
        yield from cases(_chosen(relation, {node: one}), [*chosen, *extreme])


def _chosen(relation: sympy.Basic, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Basic:
    """A relation with values put in; it is not decided, for what has no real value where they are cannot be."""
    if isinstance(relation, sympy.Rel):
        return relation.func(*(side.xreplace(values) for side in relation.args), evaluate=False)
    if isinstance(relation, sympy.And | sympy.Or):
        return relation.func(*(_chosen(part, values) for part in relation.args), evaluate=False)
    return relation


def _model(conditions: list[Any], unknowns: list[Any]) -> list[Fraction] | None:
    """Values of unknowns with which all conditions hold, or nearly; None where z3 finds none."""
    solver = _solver(conditions)
    return solvers.values(solver, unknowns) if solver.check() == z3.sat else None


def _decided(conditions: list[Any]) -> Any:
    return _solver(conditions).check()


def _solver(conditions: list[Any]) -> Any:
    # Asked one after the other, a solver falls back on a weaker procedure.
    return solvers.solver(conditions, EFFORT, "QF_NRA")


class _Translation:
    """sympy's expressions as z3's; ``known`` says what the numbers that were introduced are."""

    def __init__(self) -> None:
        self.known: list[Any] = []
        self._seen: dict[sympy.Expr, Any] = {}
        self._powers: dict[sympy.Expr, list[tuple[Any, Any]]] = {}
        #: Numbers above 0, each with its logarithm.
        self._logarithms = [(z3.RealVal(1), z3.RealVal(0))]
        self._count = 0

    def case(self, relation: sympy.Basic, hypotheses: list[sympy.Basic]) -> tuple[list[Any], Any]:
        """Return the translated hypotheses together with what is known, and the translated relation."""
        conclusion, assumed = self.relation(relation), [self.relation(h) for h in hypotheses]
        return [*assumed, *self.known], conclusion

    def relation(self, hypothesis: sympy.Basic) -> Any:
        """A relation, or relations joined by and, or."""
        if isinstance(hypothesis, sympy.And | sympy.Or):
            parts = [self.relation(part) for part in hypothesis.args]
            return z3.And(parts) if isinstance(hypothesis, sympy.And) else z3.Or(parts)
        if hypothesis in (sympy.true, sympy.false):
            return z3.BoolVal(hypothesis is sympy.true)
        if not isinstance(hypothesis, sympy.Rel):
            raise _Untranslated(f"{hypothesis} is not a relation between numbers")
        return _MEANING[hypothesis.rel_op](self.of(hypothesis.lhs), self.of(hypothesis.rhs))

    def of(self, expression: sympy.Expr) -> Any:
        """An expression; each one only once, so that a root is the same number wherever it stands."""
        if expression not in self._seen:
            self._seen[expression] = self._translated(expression)
        return self._seen[expression]

    def _translated(self, node: sympy.Expr) -> Any:
        if node.is_Rational:
            return z3.RealVal(str(Fraction(int(node.p), int(node.q))))
        if node.is_Symbol:
            return self._symbol(node)
        args = node.args
        if isinstance(node, sympy.Add):
            return z3.Sum([self.of(a) for a in args])
        if isinstance(node, sympy.Mul):
            return z3.Product([self.of(a) for a in args])
        if isinstance(node, sympy.Abs):
            return z3.Abs(self.of(args[0]))
        if isinstance(node, sympy.ceiling | sympy.floor):
            return self._rounded(node)
        if isinstance(node, sympy.log):
            return self._logarithm(args[0])
        if isinstance(node, sympy.Pow) and args[1].is_Rational:
            return self._power(*args)
        if isinstance(node, sympy.Pow) and args[1].is_nonnegative:
            return self._unknown_power(*args)
        raise _Untranslated(f"{node} is not algebraic")

    def _fresh(self) -> Any:
        self._count += 1
        return z3.Real(f"new {self._count}")

    def _symbol(self, symbol: sympy.Symbol) -> Any:
        if not symbol.is_real:
            raise _Untranslated(f"{symbol} need not be real")
        # Symbols of one name and different assumptions are different symbols.
        x = self._fresh()
        if symbol.is_positive:
            self.known.append(x >= 1 if symbol.is_integer else x > 0)
        elif symbol.is_nonnegative:
            self.known.append(x >= 0)
        return x

    def _power(self, base: sympy.Expr, exponent: sympy.Rational) -> Any:
        if exponent < 0:
            inverse, positive = self._fresh(), self.of(sympy.Pow(base, -exponent, evaluate=False))
            self.known.append(inverse * positive == 1)
            return inverse
        x = self.of(base)
        if exponent.q > 1:
            root = self._fresh()
            self.known += [root >= 0, z3.Product([root] * int(exponent.q)) == x]
            x = root
        return z3.Product([x] * int(exponent.p))

    def _unknown_power(self, base: sympy.Expr, exponent: sympy.Expr) -> Any:
        """A number of which the order is known that it has among powers of nonnegative bases, 0 and 1 among them."""
        x, power = self.of(base), self._fresh()
        one = z3.RealVal(1)
        self.known.append(z3.Implies(x >= 0, power >= 0))
        for other, raised in ((one, one), *self._powers.setdefault(exponent, [])):
            for small, large in (((x, power), (other, raised)), ((other, raised), (x, power))):
                ordered = [small[0] >= 0, small[0] <= large[0]]
                self.known.append(z3.Implies(z3.And(ordered), small[1] <= large[1]))
                if exponent.is_positive:
                    self.known.append(z3.Implies(z3.And(ordered[0], small[0] < large[0]), small[1] < large[1]))
            self.known.append(z3.Implies(x == other, power == raised))
        self._powers[exponent].append((x, power))
        return power

    def _logarithm(self, of: sympy.Expr) -> Any:
        """A number of which the logarithms of products are known, and log x - log y <= x/y - 1, for all pairs."""
        factors = [f.as_base_exp() for f in sympy.Mul.make_args(of)]
        x, log = self.of(of), self._fresh()
        if factors != [(of, 1)] and all(base.is_positive and exponent.is_Rational for base, exponent in factors):
            parts = [self.of(exponent) * self.of(sympy.log(base)) for base, exponent in factors]
            self.known.append(log == z3.Sum(parts))
        for other, its in self._logarithms:
            for (a, log_a), (b, log_b) in (((x, log), (other, its)), ((other, its), (x, log))):
                self.known.append(z3.Implies(z3.And(a > 0, b > 0), b * (log_a - log_b) <= a - b))
        self._logarithms.append((x, log))
        return log

    def _rounded(self, node: sympy.Expr) -> Any:
        plain = unnested(node)
        if plain != node:
            return self.of(plain)
        # Any number in the interval, by what is known of whole ones: more than the one that is meant.
        up = isinstance(node, sympy.ceiling)
        x, whole = self.of(node.args[0]), self._fresh()
        self.known += [x <= whole, whole < x + 1] if up else [whole <= x, x < whole + 1]
        # Up to the next whole number, and not to one beyond 0 or 1; down likewise.
        for n in (0, 1):
            below, above = (n, n + 1) if up else (n - 1, n)
            self.known += [
                z3.Implies(x <= n if up else x < n, whole <= below),
                z3.Implies(x > n if up else x >= n, whole >= above),
            ]
        top, bottom = sympy.fraction(sympy.together(node.args[0]))
        if top.is_integer and bottom.is_integer and bottom.is_positive:
            p, q = self.of(top), self.of(bottom)
            self.known.append(q * whole <= p + q - 1 if up else q * whole >= p - q + 1)
        return whole


def unnested(e: sympy.Expr) -> sympy.Expr:
    """An expression in which no rounded number that is added to whole ones and divided by a positive whole one is
    rounded again in the same direction.

    ceil((ceil(x) + m)/n) is ceil((x + m)/n) for integers m and n > 0, and floors likewise. Integers are taken out of
    roundings.
    """
    if not e.has(sympy.ceiling, sympy.floor):
        return e
    e = e.func(*map(unnested, e.args))
    if not isinstance(e, sympy.ceiling | sympy.floor):
        return e
    top, bottom = sympy.fraction(sympy.together(e.args[0]))
    terms = sympy.Add.make_args(sympy.expand(top, deep=False))
    inner = next((term for term in terms if isinstance(term, e.func)), None)
    if inner is None or not (bottom.is_integer and bottom.is_positive and all(term.is_integer for term in terms)):
        return e.func(sympy.expand(e.args[0]))
    once = sympy.Add(inner.args[0], *(term for term in terms if term is not inner))
    return unnested(e.func(sympy.expand(sympy.cancel(once / bottom))))
