"""The families of changes of a claim, of each sort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement, free_symbols, measured
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.symbols import T
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison
from verify.repair import formulas, misread_code, of_paper, starts
from verify.repair.families import COSTS, Family, potential, rate
from verify.repair.solving import solved
from verify.repair.units import Units
from verify.report.statement import expression as words

#: Numbers by which something is multiplied, before the least of them that serves is refined.
GRID = tuple(sympy.Integer(n) for n in (2, 3, 4, 6, 8, 12, 16, 32, 64))
#: Numbers that are added.
_OFFSETS = tuple(sympy.Integer(n) for n in (1, 2, 4, 8))
#: Expressions in letters at most by which a term is multiplied.
_MONOMIALS = 40
#: Added if a whole right side grows with the number of clients.
_GROWING = 0.6
#: Added, for inequalities alone, if other code makes a left side smaller or a right one larger, as most code does.
_LOOSER = 0.7
#: Added if a side is multiplied by a count.
_COUNTED = 0.4
#: Added if letters, or a letter and a number, are compared that need not have the same unit, as a relative error and a
#: curvature.
_UNALIKE = 2.0
#: Added to the cost of a power less in a rate: (1 - x)^(m - 1) <= (1 - x/2)^m, so that it is tried before half of x,
#: and before half of a number in x.
_STRONGER = -0.65
#: Added if a term that is not noise loses a factor.
_OF_OTHERS = 0.4
#: Added if a noise gets another power of a letter.
_OTHER_POWER = 0.1
#: Added to the cost of another start if an option of the method is as in other claims of the paper.
_OPTION = 0.35


def families(claim: Claim) -> list[Family]:
    """Return all families of changes of a claim, the cheapest first."""
    found = [*_of_statement(claim), *_of_hypotheses(claim)]
    return sorted(found, key=lambda family: family.cost)


def misreadings(claim: Claim, found: Iterable[tuple[misread_code.Misreading, ...]]) -> list[Family]:
    """Return changes of the readings in the code of quantities, the cheapest first."""
    made = []
    for by in found:
        parts = misread_code.misread(claim, by)
        sort = "count" if all(one.sort == "count" for one in by) else "reading"
        family = _fixed(sort, misread_code.in_words(claim, by, parts), parts)
        made.append(replace(family, further=_of_readings(claim, by)))
    return sorted(made, key=lambda family: family.cost)


def _of_readings(claim: Claim, by: tuple[misread_code.Misreading, ...]) -> float:
    """Return the cost of readings beyond one of another part in a claim of an equality."""
    looser = _LOOSER * (not misread_code.equalities(claim))
    return looser + sum(misread_code.COSTS[one.sort] for one in by) + (len(by) - 1) * COSTS["reading"]


def _of_statement(claim: Claim) -> Iterator[Family]:
    statement = claim.statement
    if getattr(statement, "strict", False):
        yield _fixed("relation", "<= for <", {"strict": False})
        if isinstance(statement, Inequality) and statement.middle is None:
            other = Comparison(statement.right, "<=", statement.left)
            yield _fixed("equality", "== for <", {"strict": False, "also": (*statement.also, other)})
    if isinstance(statement, ParameterRule):
        for assignments in solved(statement):
            yield Family("assignment", partial(_assigned, statement, assignments))
    for text, setting, algorithm in starts.starts(claim):
        yield _fixed("start", text, {"setting": setting, "algorithm": algorithm})
    for text, setting in starts.options(claim):
        yield _fixed("option", text, {"setting": setting})
        for start, both, algorithm in starts.starts(replace(claim, setting=setting)):
            family = _fixed("start", f"{text}, {start}", {"setting": both, "algorithm": algorithm})
            yield replace(family, further=_OPTION)
    if not formulas.formulas(statement):
        return
    yield from _scaled(claim)
    yield from _shaped(claim)
    yield from _unequal(claim)
    yield from _exchanged(claim)
    yield from _measured_otherwise(claim)
    yield from _lettered(claim)


def _assigned(statement: ParameterRule, assignments: Mapping[Any, Any], _: Any) -> tuple[str, dict[str, Any]]:
    changed = [
        f"{name} = {words(value)}" for name, value in assignments.items() if value != statement.assignments[name]
    ]
    return ", ".join(changed), {"assignments": assignments}


def _scaled(claim: Claim) -> Iterator[Family]:
    """Yield changes of a number, a whole right side or a term by a factor."""
    statement = claim.statement
    equal = any(c.relation == "==" for c in statement.comparisons)
    inverse = tuple(1 / n for n in GRID)

    def constant(size: sympy.Rational, by: sympy.Expr) -> tuple[str, dict[str, Any]]:
        return f"{words(size * by)} for {size}", formulas.rewritten(statement, formulas.rescaling(size, by))

    def prefactor(name: str, whole: formulas.Rewriting, by: sympy.Expr) -> tuple[str, dict[str, Any]]:
        return f"the right side times {words(by)}", {name: whole(by)}

    def term(node: sympy.Expr, by: sympy.Expr) -> tuple[str, dict[str, Any]]:
        return f"{words(by * node)} for {words(node)}", formulas.rewritten(
            statement, formulas.replacing(node, by * node)
        )

    def offset(node: sympy.Expr, by: sympy.Expr) -> tuple[str, dict[str, Any]]:
        return f"{words(node + by)} for {words(node)}", formulas.rewritten(
            statement, formulas.replacing(node, node + by)
        )

    for noise in noises(statement):
        yield Family("noise", partial(term, noise), GRID, True, noise.as_coeff_Mul()[0])
    yield from _without_a_factor(claim)
    yield from _other_powers(claim)
    for size in formulas.constants(statement):
        for amounts in (GRID, inverse):
            yield Family("constant", partial(constant, size), amounts, not equal, size)
    for name, _, whole in formulas.right_sides(statement):
        yield Family("prefactor", partial(prefactor, name, whole), GRID, True)
    for node in formulas.terms(statement):
        for amounts in (GRID, inverse):
            yield Family("term", partial(term, node), amounts, not equal)
        for new in (2 * node - 2, 2 * node - 1) if node.is_integer and node.is_Symbol else ():
            parts = formulas.rewritten(statement, formulas.replacing(node, new))
            yield _fixed("count", f"{words(new)} for {words(node)}", parts)
        # Numbers are added to counts only: quantities with a unit do not allow it.
        if node.is_integer and not node.free_symbols & measured(statement):
            for amounts in (_OFFSETS, tuple(-n for n in _OFFSETS)):
                yield Family("offset", partial(offset, node), amounts)


def noises(statement: Statement) -> list[sympy.Expr]:
    """Return the terms on the right side of a step that a potential does not multiply; those on that of a bound of T
    rounds that do not shrink with T.
    """
    right = getattr(statement, "right", None)
    kept = T if statement.horizon else potential(statement)
    if kept is None or right is None or (not statement.horizon and rate(statement) is None):
        return []
    # A factor that all terms share stands before a sum.
    sums = [factor for factor in sympy.Mul.make_args(right) if factor.has(kept)]
    parts = sympy.Add.make_args(sums[0]) if len(sums) == 1 else ()
    found = [node for node in parts if not node.has(kept) and node.free_symbols]
    return found if len(found) < len(parts) else []


def _without_a_factor(claim: Claim) -> Iterator[Family]:
    """Yield terms without one of their factors, if that has no unit: a noise that is divided once too often."""
    statement, units = claim.statement, Units(claim)
    quantities, noise = measured(statement), noises(statement)
    for node in formulas.nodes(statement, sympy.Mul):
        for factor in node.args:
            if factor.is_number or factor.free_symbols & quantities or not units.is_number(factor):
                continue
            parts = formulas.rewritten(statement, formulas.replacing(node, node / factor))
            family = _fixed("factor", f"{words(node / factor)} for {words(node)}", parts)
            yield replace(family, further=0.0 if node in noise else _OF_OTHERS)


def _other_powers(claim: Claim) -> Iterator[Family]:
    """Yield noise with one power more or less of a letter in it, as gamma^2 S for gamma S."""
    statement = claim.statement
    for noise in noises(statement):
        for letter in sorted(noise.free_symbols - measured(statement), key=str):
            for new in (noise * letter, noise / letter):
                parts = formulas.rewritten(statement, formulas.replacing(noise, new))
                yield replace(_fixed("factor", f"{words(new)} for {words(noise)}", parts), further=_OTHER_POWER)


def _shaped(claim: Claim) -> Iterator[Family]:
    """Yield changes of signs, maxima, exponents and groupings, terms left out, and sides exchanged."""
    statement = claim.statement
    factors = sympy.Mul.make_args(rate(statement) or sympy.S.One)
    of_rate = {e for e in factors if e.is_Pow and e.exp.is_Integer and e.exp > 1}

    def one(sort: str, old: sympy.Expr, new: sympy.Expr) -> Family:
        parts = formulas.rewritten(statement, formulas.replacing(old, new))
        return _fixed(sort, f"{words(new)} for {words(old)}", parts)

    for size in formulas.constants(statement):
        parts = formulas.rewritten(statement, formulas.rescaling(size, sympy.S.NegativeOne))
        yield _fixed("sign", f"-{size} for {size}", parts)
    for node in formulas.terms(statement):
        # A positive letter is not a misprint for its negative.
        if not node.is_Symbol or node in measured(statement):
            yield one("sign", node, -node)
    for node in formulas.nodes(statement, (sympy.Max, sympy.Min)):
        yield one("operator", node, (sympy.Min if isinstance(node, sympy.Max) else sympy.Max)(*node.args))
        for argument in node.args:
            yield one("left out", node, node.func(*(a for a in node.args if a != argument)))
    for node in formulas.nodes(statement, sympy.Pow):
        for exponent in (node.exp + 1, node.exp - 1, node.exp / 2, 2 * node.exp):
            family = one("exponent", node, sympy.Pow(node.base, exponent))
            yield replace(family, further=_STRONGER) if exponent == node.exp - 1 and node in of_rate else family
    yield from _powers(claim)
    for node in formulas.nodes(statement, sympy.Add):
        yield from (one("grouping", node, grouped) for grouped in _grouped(node))
        for argument in node.args:
            yield one("left out", node, node - argument)
            for other in node.args:
                if other is not argument and not (argument + other).free_symbols & measured(statement):
                    yield one("maximum", node, node - argument - other + sympy.Max(argument, other))
    if (bound := statement.geometric) is not None:
        for text, by in (("T - 1", 1 / bound.factor), ("T/2", bound.factor ** (-T / 2))):
            whole = {"bound": bound.bound * by} if by.has(T) else {"constant": bound.constant * by}
            yield _fixed("round", f"{text} for T", whole)
    left, right = (getattr(statement, name, None) for name in ("left", "right"))
    whole_sides = not statement.horizon and getattr(statement, "middle", None) is None
    if left is not None and right is not None and whole_sides:
        exchanged = {"left": right, "right": left}
        yield _fixed("reversed", "the two sides exchanged", exchanged)


def _powers(claim: Claim) -> Iterator[Family]:
    """Yield squares and roots of letters, and of sums of them, where a power may be another one."""
    statement, has_power = claim.statement, _powered(claim)
    for node in formulas.terms(statement):
        alone = node.is_Symbol or (node.is_Add and all(len(part.free_symbols) <= 1 for part in node.args))
        if alone and not node.is_integer and node.is_nonnegative and has_power(node):
            for exponent in (sympy.Integer(2), sympy.Rational(1, 2)):
                parts = formulas.rewritten(statement, formulas.raising(node, exponent))
                yield _fixed("power", f"{words(node**exponent)} for {words(node)}", parts)
    for node in formulas.nodes(statement, sympy.Pow):
        if node.base.is_Symbol and has_power(node.base):
            for exponent in (node.exp / 2, 2 * node.exp):
                new = sympy.Pow(node.base, exponent)
                parts = formulas.rewritten(statement, formulas.replacing(node, new))
                yield _fixed("power", f"{words(new)} for {words(node)}", parts)


def _powered(claim: Claim) -> Callable[[sympy.Expr], bool]:
    """Return a test for what may be raised to another power and leave the units as they are: what has none, such as a
    relative error, and a letter that stands in noise alone, which makes the unit of the noise.
    """
    statement, units = claim.statement, Units(claim)
    quantities = measured(statement)
    noise = [node for node in noises(statement) if not node.free_symbols & quantities]
    others = getattr(statement, "right", sympy.S.Zero) - sum(noise, sympy.S.Zero)
    in_noise = {letter for node in noise for letter in node.free_symbols} - others.free_symbols
    return lambda node: not node.free_symbols & quantities and (units.is_number(node) or node in in_noise)


def _unequal(claim: Claim) -> Iterator[Family]:
    """Yield the changes of an equality into an inequality, perhaps up to a count: the square of a sum of m vectors is
    at most m times the sum of their squares.
    """
    statement = claim.statement
    if not isinstance(statement, Identity):
        return
    counts = sorted((s for s in claim.setting.sources if s.is_Symbol and s.is_integer and s.is_positive), key=str)
    for small, large, word in ((statement.left, statement.right, "<="), (statement.right, statement.left, ">=")):
        for by in (sympy.S.One, *counts):
            made = Inequality(small, by * large, statement.quantities)
            side = "" if by == 1 else f", the {'left' if word == '>=' else 'right'} side times {words(by)}"
            family = _fixed("inequality", f"{word} for =={side}", {"statement": made})
            yield replace(family, further=_COUNTED * (by != 1))


def _exchanged(claim: Claim) -> Iterator[Family]:
    """Yield exchanges of one letter for another, in one part of the statement or one constant of a rule."""
    statement = claim.statement
    letters = sorted(free_symbols(statement) - {T}, key=str)
    for name, part in formulas.formulas(statement).items():
        for old, new in permutations(letters, 2):
            if isinstance(part, Mapping):
                for symbol, value in part.items():
                    parts = {name: {**part, symbol: value.xreplace({old: new})}}
                    if value.has(old):
                        yield _fixed("letter exchanged", f"{new} for {old} in {symbol} = {words(value)}", parts)
            elif not isinstance(part, tuple) and part.has(old):
                text = f"{new} for {old} in {words(part)}"
                yield _fixed("letter exchanged", text, {name: part.xreplace({old: new})})


def _measured_otherwise(claim: Claim) -> Iterator[Family]:
    """Yield exchanges of one quantity for another whose name has other indices, wherever it stands."""
    statement = claim.statement
    if statement.scope is not Scope.STATE:
        return
    for old, new in of_paper.exchanges(claim):
        parts = formulas.rewritten(statement, formulas.replacing(old.expression, new.expression))
        known = {q.expression for q in statement.quantities}
        added = () if new.expression in known else (new,)
        text = f"{words(new.expression)} for {words(old.expression)}"
        yield _fixed(
            "quantity exchanged", text, {**parts, "quantities": (*statement.quantities, *added)} if parts else {}
        )


def _fixed(sort: str, text: str, parts: dict[str, Any]) -> Family:
    """Return the family of a single change."""
    return Family(sort, lambda _: (text, parts))


def _grouped(node: sympy.Add) -> Iterator[sympy.Expr]:
    """Yield a*b + c as a*(b + c), where a is a sum: the brackets may have been lost."""
    for term in node.args:
        for factor in term.args if term.is_Mul else ():
            if factor.is_Add:
                yield factor * (term / factor + node - term)


def _lettered(claim: Claim) -> Iterator[Family]:
    """Yield products of a right side or a term and an expression in letters."""
    statement, by = claim.statement, _monomials(claim)

    def whole(name: str, made: formulas.Rewriting, by: sympy.Expr, _: Any) -> tuple[str, dict[str, Any]]:
        return f"the right side times {words(by)}", {name: made(by)}

    def term(node: sympy.Expr, by: sympy.Expr, _: Any) -> tuple[str, dict[str, Any]]:
        return f"{words(by * node)} for {words(node)}", formulas.rewritten(
            statement, formulas.replacing(node, by * node)
        )

    clients = {letter for letter, source in claim.setting.sources.items() if source == "n"}
    for monomial in by:
        # For many clients a bound that grows with their number is void.
        above, below = (bool(part.free_symbols & clients) for part in monomial.as_numer_denom())
        for name, _, made in formulas.right_sides(statement):
            yield Family("letter", partial(whole, name, made, monomial), further=_GROWING * (above and not below))
        for node in formulas.terms(statement):
            if not node.is_Symbol:
                yield Family("letter", partial(term, node, monomial))


def _monomials(claim: Claim) -> list[sympy.Expr]:
    """Return letters, the factors in letters of the statement, quotients of similar ones, also of those in other claims
    of the paper, and their inverses.
    """
    statement = claim.statement
    symbols = free_symbols(statement) - {T}
    factors = [
        node
        for node in formulas.nodes(statement, sympy.Add)
        if node.free_symbols <= symbols and node.free_symbols and len(node.args) == 2 and node.args[0].is_Number
    ]
    letters = sorted((s for s in symbols if s.is_nonnegative), key=str)
    found = [*letters, *factors]
    found += [a / b for kind in (letters, factors) for a, b in permutations(kind, 2)]
    # (tau - 1)/(n - 1), say, if a statement mentions neither.
    of_others = combinations(of_paper.factors(claim), 2)
    found += [a / b for a, b in of_others if a.args[0] == b.args[0]]
    return list(dict.fromkeys(e for m in found for e in (m, 1 / m)))[:_MONOMIALS]


def _of_hypotheses(claim: Claim) -> Iterator[Family]:
    """Yield stronger forms of a hypothesis that bounds letters; a hypothesis of another claim of the setting; one on
    two letters.
    """

    def tightened(index: int, relation: sympy.Rel, by: sympy.Expr) -> tuple[str, dict[str, Any]] | None:
        small, large = (
            (relation.lhs, relation.rhs) if isinstance(relation, sympy.Le | sympy.Lt) else relation.args[::-1]
        )
        func = sympy.Le if isinstance(relation, sympy.Le | sympy.Ge) else sympy.Lt
        changed = func(small, large * by)
        if changed in (sympy.true, sympy.false):
            return None
        text = f"{words(small)} {changed.rel_op} {words(large * by)}"
        stronger = replace(claim.requires[index], text=f"{claim.requires[index].text}, and {text}", relation=changed)
        return f"required: {text}", {"requires": (*claim.requires[:index], stronger, *claim.requires[index + 1 :])}

    inequalities = (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)
    for index, hypothesis in enumerate(claim.requires):
        if isinstance(hypothesis.relation, inequalities):
            yield Family("hypothesis tightened", partial(tightened, index, hypothesis.relation), _BELOW, True)
    for hypothesis in of_paper.hypotheses(claim):
        parts = {"requires": (*claim.requires, hypothesis)}
        yield _fixed("hypothesis of the paper", f"required: {hypothesis.text}", parts)

    def bounded(small: sympy.Expr, large: sympy.Expr, by: sympy.Expr) -> tuple[str, dict[str, Any]] | None:
        relation = sympy.Le(small, large * by)
        if relation in (sympy.true, sympy.false):
            return None
        text = f"{words(small)} <= {words(large * by)}"
        return f"required: {text}", {"requires": (*claim.requires, Hypothesis(text, relation))}

    sources = claim.setting.sources
    letters = sorted((s for s in sources if s.is_Symbol and s.is_nonnegative), key=str)
    units = Units(claim)
    for small, large in permutations(letters, 2):
        family = Family("hypothesis on two letters", partial(bounded, small, large), (sympy.S.One, *_BELOW), True)
        yield family if units.alike(small, large) else replace(family, further=_UNALIKE)
    for letter in letters:
        if sources[letter] in ("n", "d"):
            # For one client, or in one dimension, little would be left.
            continue
        below = () if letter.is_integer else _BELOW
        further = 0.0 if units.is_number(letter) else _UNALIKE
        yield Family("hypothesis", partial(bounded, letter, sympy.S.One), (sympy.S.One, *below), True, further=further)


#: Numbers by which the larger side of a hypothesis is multiplied.
_BELOW = tuple(1 / n for n in GRID)
