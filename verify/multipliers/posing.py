"""A claim as a program of a generic client: what is to be shown, what is known, and for which letters.

All of it is derived from the claim: its step and quantities as they are read, its classes, its hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.classes import (
    ContractiveCompressors,
    UnbiasedCompressors,
)
from verify.exact.symbolic import assumed, conjuncts
from verify.multipliers.answers import Answers, Errors, Functions, scalar
from verify.multipliers.cases import Case, declared, example, stated, typical
from verify.multipliers.domains import Domain
from verify.multipliers.forms import Form, Mask, Moments
from verify.multipliers.ratios import Ratio, from_terms, polynomials, substituted
from verify.reading import program as reading
from verify.reading.generic_client import evaluated, world
from verify.reading.source import Unread
from verify.reading.terms import NUMBER, POINT, Axis, Op, Term, leaf
from verify.reading.worlds import ONE, Value

#: Letters that are reserved for maxima in a statement.
_MAXIMA = 6


@dataclass(frozen=True, eq=False)
class Posed:
    """What one case of a claim says: ``target`` <= 0 follows from ``known`` <= 0 for all letters of the ``domain``.

    ``names``: of the letters; ``words``: where what is known comes from, by its names; ``branches``: of those
    that stand for maxima, their bounds from below.
    """

    names: tuple[str, ...]
    domain: Domain
    target: Form
    known: Mapping[str, Form]
    words: Mapping[str, str]
    branches: Mapping[int, tuple[Ratio, ...]]

    def part(self, p: Any) -> Posed:
        """The same where a polynomial is >= 0."""
        return replace(self, domain=self.domain.with_constraint(p, False))

    @property
    def one(self) -> Ratio:
        """The number 1."""
        return Ratio(self.domain.ring.constant(1), self.domain.ring.constant(1))

    @property
    def zero(self) -> Ratio:
        """The number 0."""
        return Ratio(self.domain.ring.constant(0), self.domain.ring.constant(1))


def pose(claim: Claim, case: Case) -> Posed:
    """What a case of a claim says. ``Unread`` tells what stands in the way."""
    return _Posing(claim, case).posed()


class _Posing:
    """The state of one posing: the world, and the letters as they come to be known."""

    def __init__(self, claim: Claim, case: Case) -> None:
        self.claim, self.case, self.setting = claim, case, claim.setting
        algorithm = getattr(claim.statement, "algorithm", None)
        if algorithm is None or self.setting.algorithm is None:
            raise Unread("there is no method of which it speaks")
        if algorithm is not self.setting.algorithm and algorithm.State is not self.setting.algorithm.State:
            raise Unread("the method has other states than the setting")
        if self.setting.optimum not in ("consensus", "stationary") or self.setting.drawing.special is not None:
            raise Unread("what x* is, is not known")
        self.algorithm = algorithm
        given = example(claim, case.with_g)
        self.read = given.problem, given.params
        self.program = reading.read(algorithm, *self.read)
        if self.program.raising or self.program.fixed:
            raise Unread("the step is one for some parameters only")
        self.quantities = {q.expression: (q, self._one(q)) for q in claim.statement.quantities}
        self.letters = {letter: self._letter(source) for letter, source in self.setting.sources.items()}
        self.of_class = {} if self.setting.functions is None else self.setting.functions.letters
        own = [self._letter(source) for source in self.of_class.values()]
        #: Letters that the family of compressors has of its own, whether the code speaks of them or not.
        extra = [leaf(Op.GIVEN, f"{a.field}.{c}", NUMBER) for a in self.setting.adversaries for c in _constants(a)]
        terms = [t for _, t in self.quantities.values()]
        fixed = self._fixed_point()
        invariant = self.setting.algorithm.invariant
        self.residuals = () if invariant is None else reading.quantities(invariant, self.setting.algorithm, *self.read)
        told = [t for t in self.letters.values() if t is not None] + [t for t in own if t is not None]
        self.world = world(self.program, *terms, *told, *extra, *fixed.values(), *self.residuals)
        self.symbols = [str(s) for s in self.world.field.symbols]
        self.kept = [s for s in self.symbols if not s.startswith("sum ")]
        self.names = (*map(_short, self.kept), *(f"max {k}" for k in range(_MAXIMA)))
        if len(set(self.names)) < len(self.names):
            raise Unread("a parameter has the name of a constant of the problem")
        self.ring = polynomials(self.names)
        self.one = Ratio(self.ring.constant(1), self.ring.constant(1))
        self.known_letters: dict[int, Ratio] = {}
        self.answers = self._answers()
        self._states(fixed)

    # Terms

    def _one(self, quantity: Any) -> Term:
        if quantity.domain is not None:
            raise Unread("a quantity is not finite everywhere")
        found = reading.quantities(quantity.of, self.setting.algorithm, *self.read)  # type: ignore[arg-type]
        if len(found) > 1 or found[0].type.axes:
            raise Unread("a quantity is no number")
        return found[0]

    def _fixed_point(self) -> Mapping[str, Term]:
        """What parts of a state are told relative to: any vectors would do."""
        try:
            return reading.fixed_point(self.setting.algorithm, *self.read)  # type: ignore[arg-type]
        except Unread:
            return dict.fromkeys(self.program.parts, leaf(Op.GIVEN, "x_star", POINT))

    def _letter(self, source: Any) -> Term | None:
        """The term that a letter of the claim stands for; None where it cannot be read, and may be anything."""
        if callable(source):
            try:
                return reading.source(source, self.setting.algorithm, *self.read)  # type: ignore[arg-type]
            except Unread:
                return None
        params = self.read[1]
        if source in ("n", "d"):
            return leaf(Op.COUNT, source, NUMBER)
        if source in ("mu", "L"):
            return leaf(Op.GIVEN, source, NUMBER)
        if source in self.program.letters:
            kind = self.program.letters[source]
            return leaf(Op.LETTER, source, NUMBER) if not kind.axes else None
        if source in ("omega", "omega_av") and hasattr(params, "compressors") and not hasattr(params, source):
            return leaf(Op.GIVEN, f"compressors.{source}", NUMBER)
        return None

    # The world

    def _number(self, term: Term) -> Value:
        return evaluated(self.world, [term])[0]

    def _answers(self) -> Answers:
        functions: dict[str, Functions] = {}
        here, of = self.world, self.setting.functions
        answers = Answers(here, functions, {})
        if of is not None:
            told, average, equal = None, None, bool(self.case.equal)
            if stated(self.claim, of):
                told = declared(of)
                if told is None:
                    raise Unread(f"the class {type(of).__name__} is not posed")
                average = (
                    None if self.case.with_g or self.setting.optimum != "consensus" else of.average(typical(), None)
                )
            mu_L = None
            if told is not None:
                least, largest = (scalar(here, c) for c in told)
                mu_L = (largest if equal else least, largest)
            y_star = here.of_client("y*", 1) if self.case.with_g else here.deviation("y*", 1)
            functions["f"] = Functions("f", True, mu_L, y_star, equal, average)
            if self.case.with_g:
                slope = here.total(y_star) * Value({ONE: -1 / here.field(sympy.Symbol("n"))})
                functions["g"] = Functions("g", False, mu_L, slope, equal)
        for adversary in self.setting.adversaries:
            answers.errors[adversary.field] = self._errors(adversary)
        return answers

    def _errors(self, adversary: Any) -> Errors:
        here, field = self.world, adversary.field
        told = stated(self.claim, adversary)
        if isinstance(adversary, UnbiasedCompressors):
            own = "omega" in self.program.letters
            known = leaf(Op.LETTER, "omega", NUMBER) if own and told else leaf(Op.GIVEN, f"{field}.omega", NUMBER)
            independent = stated(self.claim, adversary, "mutually_independent") or (told and adversary.independent)
            joint = self._number(leaf(Op.GIVEN, f"{field}.omega_av", NUMBER)) if adversary.average else None
            return Errors(self._number(known), True, independent and joint is None, joint)
        if isinstance(adversary, ContractiveCompressors) and told and "alpha" in self.program.letters:
            one = here.constant(1)
            return Errors(one - self._number(leaf(Op.LETTER, "alpha", NUMBER)), False, False)
        raise Unread(f"what {field} is, is not known")

    def _states(self, fixed: Mapping[str, Term]) -> None:
        """Every state that satisfies the invariant, by vectors that are added to the fixed point."""
        here, known = self.world, self.world.known
        for name, kind in self.program.parts.items():
            if kind.degree != 1:
                raise Unread(f"the part {name} of a state is {kind}")
        about = evaluated(here, fixed.values())
        for (name, kind), value in zip(self.program.parts.items(), about, strict=True):
            own = Axis.CLIENTS in kind.axes
            known[name] = value + (here.of_client(name, 1) if own else here.atom(name, 1))
        for residual in self.residuals:
            self._solve(evaluated(here, [residual])[0])
        if not all(value.is_zero() for value in evaluated(here, self.residuals)):
            raise Unread("the invariant does not tell parts of the state by the others")

    def _solve(self, residual: Value) -> None:
        here = self.world
        for name, kind in self.program.parts.items():
            mean = f"mean of {name}" if Axis.CLIENTS in kind.axes else name
            own = [k for k in residual.of if len(k[1]) == 1 and k[1][0].name == mean and not k[0]]
            if own and _is_never_zero(residual.of[own[0]]):
                rest = Value({k: c for k, c in residual.of.items() if k != own[0]})
                change = Value({own[0]: here.field.one}) + rest * Value({ONE: 1 / residual.of[own[0]]})
                here.known[name] = here.known[name] - change
                return
        raise Unread("the invariant is linear in no part of the state")

    # Forms

    def _convert(self, c: Any) -> Ratio:
        """A coefficient of the world."""
        parts = []
        for p in (c.numer, c.denom):
            found = {}
            for monomial, number in p.terms():
                powers = dict(zip(self.symbols, monomial, strict=True))
                if any(k for s, k in powers.items() if s not in self.kept):
                    raise Unread("a sum of numbers over the clients is in the way")
                exponents = (*(powers[s] for s in self.kept), *([0] * _MAXIMA))
                found[exponents] = sympy.Rational(number.numerator, number.denominator)
            parts.append(from_terms(self.ring, {m: _fraction(v) for m, v in found.items()}))
        return self._told(Ratio.of(*parts))

    def _told(self, ratio: Ratio) -> Ratio:
        """A quotient with what is known of letters put in."""
        return substituted(ratio, self.known_letters) if self.known_letters else ratio

    def _moments(self) -> Moments:
        masks = dict(_masks(self.program.law, "draw", self._probability))
        return Moments(self.world, masks, self.answers.drawn_by, self._convert)

    def _probability(self, term: Term) -> Ratio:
        return self._scalar(self._number(term))

    def _scalar(self, value: Value) -> Ratio:
        if not set(value.of) <= {ONE}:
            raise Unread("a number depends on vectors")
        return self._convert(value.of[ONE]) if value.of else self.one * 0

    def posed(self) -> Posed:
        """What is said."""
        here = self.world
        domain = self._domain()
        before = {e: self._number(t) for e, (q, t) in self.quantities.items() if not q.after}
        after = dict(zip(self.program.step, evaluated(here, self.program.step.values()), strict=True))
        here.known.update(after)
        if not all(value.is_zero() for value in evaluated(here, self.residuals)):
            raise Unread("a step is not seen to keep the invariant")
        later = {e: self._number(t) for e, (q, t) in self.quantities.items() if q.after}
        inequalities = list(self.answers.inequalities())
        moments = self._moments()
        values: dict[Any, Any] = {e: moments.expectation(v) for e, v in {**before, **later}.items()}
        known = {k.name: moments.expectation(k.value) for k in inequalities}
        words = {k.name: k.why for k in inequalities}
        self.branches: dict[int, tuple[Ratio, ...]] = {}
        comparisons = self.claim.statement.comparisons
        if len(comparisons) != 1 or comparisons[0].relation != "<=":
            raise Unread("it says more than that one side is at most the other")
        letters = {**self.env, **values}
        sides = []
        for side in (comparisons[0].left, comparisons[0].right):
            domain, found = self._expression(domain, side, letters)
            sides.append(found if isinstance(found, Form) else None)
        if sides[0] is None or sides[1] is None:
            raise Unread("a side of it is no quantity")
        target = sides[0] - sides[1]
        for divisor in [self._convert(c) for c in self.answers.divisors]:
            if not (domain.never_zero(divisor.num) and domain.never_zero(divisor.den)):
                raise Unread(f"it is divided by {divisor}, which may be zero")
        for form in (target, *known.values()):
            for c in form.of.values():
                if not domain.never_zero(c.den):
                    raise Unread(f"it is divided by {c.den}, which may be zero")
        return Posed(self.names, domain, target, {k: f for k, f in known.items() if f.of}, words, self.branches)

    # Letters

    def _domain(self) -> Domain:
        """The letters that the claim allows."""
        signs = self._signs()
        if missing := [n for k, n in enumerate(map(_short, self.kept)) if n != "d" and k not in signs]:
            raise Unread(f"the sign of {missing[0]} is not known")
        positive = {k for k, strict in signs.items() if strict}
        domain = Domain(self.ring, frozenset(positive))
        place = {name: k for k, name in enumerate(self.names)}
        gen = [Ratio(g, self.ring.constant(1)) for g in self.ring.gens()]
        if self.case.equal:
            self.known_letters[place["mu"]] = gen[place["L"]]
        self.env = {}
        for letter, term in self.letters.items():
            if term is not None:
                self.env[letter] = self._scalar(self._number(term))
        relations = conjuncts(assumed(self.claim))
        for relation in relations:
            if isinstance(relation, sympy.Eq):
                self._equation(relation)
        self.env = {letter: self._told(value) for letter, value in self.env.items()}
        domain = self._at_least(domain, self._told(gen[place["n"]]) - 1, False)
        of = self.setting.functions
        if self.case.equal is not True and of is not None and of.ends is not None and stated(self.claim, of):
            # There are functions of the class.
            strict = self.case.equal is False
            domain = self._at_least(domain, self._told(gen[place["L"]] - gen[place["mu"]]), strict)
        # Letters that are written by others keep their signs.
        for k, value in self.known_letters.items():
            if k in signs:
                domain = self._at_least(domain, value, signs[k])
        for relation in relations:
            if isinstance(relation, sympy.Eq) or not isinstance(relation, sympy.Rel):
                continue
            strict = isinstance(relation, sympy.StrictLessThan | sympy.StrictGreaterThan)
            try:
                small, large = (self._plain(side) for side in (relation.lts, relation.gts))
            except Unread:
                # What is not understood is not assumed.
                continue
            domain = self._at_least(domain, large - small, strict)
        return domain

    def _signs(self) -> dict[int, bool]:
        """Of letters that are nonnegative, their places, and whether they are positive."""
        place = {name: k for k, name in enumerate(self.names)}
        found = {place["n"]: True}
        for letter, term in [*((k, self._letter(v)) for k, v in self.of_class.items()), *self.letters.items()]:
            if term is not None and term.op in (Op.LETTER, Op.GIVEN) and letter.is_nonnegative:
                k = place[str(term.data)]
                found[k] = found.get(k, False) or bool(letter.is_positive)
        for adversary in self.setting.adversaries:
            for c in _constants(adversary):
                # A family's constants are variances.
                found.setdefault(place[f"{adversary.field}.{c}"], False)
        return found

    def _equation(self, relation: sympy.Eq) -> None:
        """A letter that is said to be what others make."""
        for one, other in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs)):
            value = self.env.get(one) if one.is_Symbol else None
            if value is None or value.den != 1 or len(value.num) != 1 or value.num.total_degree() != 1:
                continue
            (i,) = value.letters()
            if value.num != self.ring.gen(i) or i in self.known_letters:
                continue
            try:
                told = self._told(self._plain(other))
            except Unread:
                continue
            if i not in told.letters():
                self.known_letters = {k: substituted(v, {i: told}) for k, v in self.known_letters.items()}
                self.known_letters[i] = told
                return

    def _at_least(self, domain: Domain, difference: Ratio, strict: bool, bounds: int | None = None) -> Domain:
        """The domain where a quotient is >= 0 (> 0)."""
        num, den = difference.num, difference.den
        if domain.sign(den, True) is None:
            num = -num if domain.sign(-den, True) is not None else num * den
        return domain.with_constraint(num, strict, bounds)

    def _plain(self, expression: sympy.Expr) -> Ratio:
        """The value of an expression without maxima in letters."""
        found = self._evaluated(expression, self.env)
        if not isinstance(found, Ratio):
            raise Unread(f"{expression} is no number")
        return found

    def _evaluated(self, e: sympy.Expr, env: Mapping[Any, Any]) -> Any:
        if e in env:
            return env[e]
        if e.is_Rational:
            return self.one * _fraction(e)
        if e.is_Add or e.is_Mul:
            parts = [self._evaluated(a, env) for a in e.args]
            # Numbers first, so that forms are multiplied by them.
            parts.sort(key=lambda part: isinstance(part, Form))
            total = parts[0]
            for part in parts[1:]:
                total = _sum(total, part) if e.is_Add else part * total
            return total
        if e.is_Pow and e.exp.is_Integer:
            base = self._evaluated(e.base, env)
            if isinstance(base, Ratio) and not (base.is_zero and e.exp < 0):
                return base ** int(e.exp)
        raise Unread(f"{e} is no quotient of polynomials in what is known")

    def _expression(self, domain: Domain, e: sympy.Expr, env: Mapping[Any, Any]) -> tuple[Domain, Any]:
        """The value of an expression; maxima in it become letters that are at least their arguments."""
        # 1 - min(a, b) is max(1 - a, 1 - b), which is nonnegative where one of its arguments is.
        e = e.replace(lambda a: isinstance(a, sympy.Min), lambda a: 1 - sympy.Max(*(1 - b for b in a.args)))
        e = sympy.expand_mul(e, deep=False) if e.is_Mul else e
        env = dict(env)
        for top in sorted(e.atoms(sympy.Max), key=str):
            told = [self._told(self._evaluated(a, env)) for a in top.args]
            values = tuple({value.key: value for value in told}.values())
            if not any(domain.ratio_sign(v) is not None for v in values):
                raise Unread(f"{top} may be negative")
            i = len(self.kept) + len(self.branches)
            if len(self.branches) == _MAXIMA:
                raise Unread(f"there are more than {_MAXIMA} maxima")
            letter = Ratio(self.ring.gen(i), self.ring.constant(1))
            for value in values:
                if not domain.never_zero(value.den):
                    raise Unread(f"it is divided by {value.den}, which may be zero")
                domain = self._at_least(domain, letter - value, False, i)
            self.branches[i], env[top] = values, letter
        return domain, self._evaluated(e, env)


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, Form) is not isinstance(other, Form):
        part = other if isinstance(one, Form) else one
        if part.is_zero:
            return one if part is other else other
        raise Unread("a number is added to a quantity")
    return one + other


def _constants(adversary: Any) -> tuple[str, ...]:
    if isinstance(adversary, UnbiasedCompressors):
        return ("omega", "omega_av") if adversary.average else ("omega",)
    return ("alpha",) if isinstance(adversary, ContractiveCompressors) else ()


def _short(symbol: str) -> str:
    """The name of a letter without what it is of."""
    for kind in (Op.LETTER, Op.GIVEN):
        symbol = symbol.removeprefix(f"{kind} ")
    return symbol


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _is_never_zero(c: Any) -> bool:
    """Whether a coefficient is zero for no letters: n is not."""
    powers = [dict(zip(map(str, c.numer.ring.symbols), monomial, strict=True)) for monomial in c.numer]
    return len(powers) == 1 and not any(power for name, power in powers[0].items() if name != "n")


def _masks(law: Any, name: str, number: Any) -> Iterator[tuple[str, Mask]]:
    """The masks of a distribution, by name."""
    if law.name == "product":
        for part, of in zip(law.make._fields, law.of, strict=True):
            yield from _masks(of, f"{name}.{part}", number)
    elif law.name == "bernoulli":
        yield name, Mask(number(law.of[0]))
    elif law.name == "independent" and law.of[0].name == "bernoulli":
        p = number(law.of[0].of[0])
        yield name, Mask(p, True, p * p)
    elif law.name in ("subset", "pattern"):
        n, tau = (number(term) for term in law.of[:2])
        # One of n at random: two different ones never are.
        pair = tau * 0 if (tau - 1).is_zero else tau * (tau - 1) / (n * (n - 1))
        yield name, Mask(tau / n, True, pair)
