"""The rules by which limits of every run are shown, from inequalities that hold at every iteration.

An inequality is a sum of coefficient * quantity that is at least 0. Its coefficients are exact numbers, those of one
choice of a run's constants, or depend on letters (:mod:`verify.derivation.facts`). x, y, q are quantities of one
iteration k, u, v, p vectors of the method's state, and a is a vector that is the same all along a run; V(k) and
V(k + 1) are one function of the state, before and after it.

- Summable decrease: if sum_j c_j q_j <= V(k) - V(k + 1) with c_j > 0 and q_j >= 0, and V is bounded below along every
  run, then the sums of the q_j over k are finite, so that q_j -> 0.
- Monotone: under the same premises V is a sequence that decreases, or stays, and is bounded below: it converges.
- Level: if, besides, V >= c f(p) with c > 0 and f is coercive, then c f(p(k)) <= V(k) <= V(0), so that p is bounded.
- Domination: if a x <= sum_j c_j y_j with a > 0 and x >= 0, then x -> 0 where all y_j -> 0, and x is bounded where all
  y_j are; for coefficients of all sizes.
- Equation: where two inequalities say that sum_j c_j x_j = 0, up to what vanishes, and all x_j but one converge, then
  so does that one; to 0 where all others do. The same of a V that converges, without the 0.
- Recurrence: if a x(k + 1) <= b x(k) + (what vanishes) in one case, a' x(k + 1) <= b' x(k) + (what vanishes)
  otherwise, x >= 0, and the case is met among any N iterations that follow each other, for some N, then x -> 0 provided
  that b <= 0, or that b < a and b' <= a'. In the first case x is at most max(1, b'/a')^N times what vanishes, N times;
  in the second, N iterations multiply it by b/a or less, up to what vanishes.
- Cauchy-Schwarz: |<u, v>| <= |u| |v|, so that <u, v> -> 0 where |u| -> 0 and v is bounded, and it is bounded where both
  are.
- Triangle: |u - a| <= |u| + |a|, so that u - a is bounded where u is; |u - a| <= |u - v| + |v - a|, so that u -> a
  where v -> a and u - v -> 0, for vectors and for numbers.
- Continuity: if u -> a then h(u) -> h(a), where a hypothesis says that h is Lipschitz.
- Isolated accumulation point: if |u(k + 1) - u(k)| -> 0, and a hypothesis says that u has an accumulation point with no
  other near it, then u converges to it (More and Sorensen 1983, Lemma 4.10): near it u would otherwise have to leave a
  ball again and again, by steps that become as small as one likes, and so had another one in a shell about it.
- The same limit: if u - v -> 0 and v converges, then so does u; and h(u) where a hypothesis says that h is Lipschitz.
- Sum: a sum over the clients vanishes, or is bounded, where the part of each client does.

V is bounded below if V >= c f with c > 0 at every iteration, and a hypothesis says that f is, or if V is a square.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeGuard

from fedtheory.claims import Claim
from fedtheory.kinds.base import BOUNDED, CONVERGES, VANISHES
from fedtheory.meanings import BoundedBelow, Coercive, Everywhere, Isolated, Lipschitz, Recurs
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Iteration, Overall, Root
from fedtheory.settings.quantities import Away, Difference, Image, Inner, Shared, Square, Total, Value
from verify.derivation.facts import ClientQuantity, Fact, Of, Scalar, hypothesis_facts, is_zero, term

#: A quantity that vanishes converges, and one that converges is bounded.
_STRONGER = {VANISHES: (), CONVERGES: (VANISHES,), BOUNDED: (VANISHES, CONVERGES)}


class Conclusion(NamedTuple):
    """A conclusion about the sequence of values of a quantity."""

    kind: str
    term: ClientQuantity


@dataclass(frozen=True)
class RuleUse:
    """One use of a rule: the inequalities it takes, what was concluded before, and terms that must not be negative."""

    rule: str
    facts: tuple[Fact, ...] = ()
    given: tuple[Conclusion, ...] = ()
    nonnegative: tuple[ClientQuantity, ...] = ()


class Equation(NamedTuple):
    """A sum that converges, to 0 or (not ``zero``) to something."""

    terms: Mapping[ClientQuantity, Scalar]
    zero: bool
    step: RuleUse


@dataclass
class Derivation:
    """The conclusions derived so far, each with the rule that gave it."""

    steps: dict[Conclusion, RuleUse] = field(default_factory=dict)
    equations: list[Equation] = field(default_factory=list)

    def how(self, kind: str, given: ClientQuantity) -> Conclusion | None:
        """The conclusion that says this of a term, or more; None if it is not derived."""
        kinds = (*_STRONGER[kind], kind)
        return next((c for k in kinds if (c := Conclusion(k, given.plain)) in self.steps), None)

    def vanishes(self, given: ClientQuantity) -> bool:
        """Return True if the quantity tends to 0 along every run."""
        return self.how(VANISHES, given) is not None

    def add(self, kind: str, given: ClientQuantity, step: RuleUse) -> None:
        """Note a conclusion, unless it is known."""
        if self.how(kind, given) is None:
            self.steps[Conclusion(kind, given.plain)] = step

    def holds(self, kind: str, given: ClientQuantity) -> tuple[Conclusion, ...]:
        """The conclusion on a wanted quantity, by which one on its root is meant too; empty if it is not derived."""
        of = given.of.of if isinstance(given.of, Root) else given.of
        found = self.how(kind, term(of, given.client))
        return () if found is None else (found,)

    def traced(self, wanted: Iterable[Conclusion]) -> list[RuleUse]:
        """The steps on which conclusions rest."""
        found: dict[Conclusion, RuleUse] = {}
        left = list(wanted)
        while left:
            conclusion = left.pop()
            if conclusion not in found:
                found[conclusion] = self.steps[conclusion]
                left += found[conclusion].given
        return list(found.values())


def derive(
    iteration: Iteration, assumed: Iterable[Hypothesis], facts: Sequence[Fact], wanted: Iterable[ClientQuantity] = ()
) -> Derivation:
    """All that the rules derive from the facts, those of all clients, under what hypotheses say of runs.

    ``wanted``: quantities about which conclusions are sought, besides those of the facts. Raise ``ValueError`` if a
    quantity is one of other iterations.
    """
    meanings = [says for h in assumed for says in h.says]
    every = [
        *facts,
        *(k for says in meanings if isinstance(says, Everywhere) for k in hypothesis_facts(says, iteration)),
    ]
    clients = sorted({k.client for k in facts if k.client is not None})
    terms = {t.plain: None for k in every for t in k.terms}
    terms |= {term(t.of.of if isinstance(t.of, Root) else t.of, t.client).plain: None for t in wanted}
    if any(isinstance(t.of, At | Overall) and t.of.iteration is not iteration for t in terms):
        raise ValueError("a quantity is one of other iterations")
    rules = _Rules(iteration, meanings, every, clients, _with_steps(terms))
    found = Derivation()
    while True:
        before = len(found.steps), len(found.equations)
        rules.apply(found)
        if (len(found.steps), len(found.equations)) == before:
            return found


@dataclass(frozen=True)
class _Rules:
    """The rules, with all that they may use."""

    iteration: Iteration
    meanings: Sequence[Any]
    facts: Sequence[Fact]
    clients: Sequence[int]
    terms: Sequence[ClientQuantity]

    def apply(self, found: Derivation) -> None:
        """Each rule, wherever it applies; those that ask for what needs a certificate come last."""
        size = len(found.steps), len(found.equations)
        for rule in (self._decrease, self._opposite, self._solve, self._form, self._settle, self._total, self._recur):
            rule(found)
        self._dominate(found, certain=True)
        if (len(found.steps), len(found.equations)) == size:
            self._dominate(found, certain=False)

    def _always(self) -> Iterator[Fact]:
        return (k for k in self.facts if k.case is None and not k.signs)

    def _decrease(self, found: Derivation) -> None:
        for fact in self._always():
            early, late, others = _split(fact)
            same = bool(early) and late == {t: -c for t, c in early.items()}
            if not same or any(not self._own(t.of) for t in early) or any(c > 0 for c in others.values()):
                continue
            signs = tuple(others)
            for bound, below in self._bounds(early):
                step = RuleUse("summable decrease", (fact, *bound), nonnegative=signs)
                for t in others:
                    found.add(VANISHES, t, step)
                self._equation(found, early, False, replace(step, rule="monotone sequence"))
                if isinstance(below, Coercive):
                    point = ClientQuantity(At(self.iteration, Square(below.point)), None)
                    found.add(BOUNDED, point, replace(step, rule="level set"))

    def _bounds(
        self, potential: Mapping[ClientQuantity, Scalar]
    ) -> Iterator[tuple[tuple[Fact, ...], BoundedBelow | None]]:
        """Facts that bound a potential below, and by what: none where it is a square."""
        if len(potential) == 1 and all(t.never_negative and c > 0 for t, c in potential.items()):
            yield (), None
        for fact in self._always():
            for below in self._bounding(fact, potential):
                yield (fact,), below

    def _bounding(self, fact: Fact, potential: Mapping[ClientQuantity, Scalar]) -> Iterator[BoundedBelow]:
        """Yield the hypotheses that bound below the function whose positive multiple, by the fact, the potential is at
        least.
        """
        early, late, others = _split(fact)
        rest = {t: early.get(t, Fraction(0)) - potential.get(t, Fraction(0)) for t in {*early, *potential}}
        rest = _nonzero(rest)
        if late or others or len(rest) != 1:
            return
        ((t, c),) = rest.items()
        if c < 0 and self._own(t.of) and not t.of.each:
            function = t.of.function
            yield from (s for s in self.meanings if isinstance(s, BoundedBelow) and s.function is function)

    def _opposite(self, found: Derivation) -> None:
        """Equations that two facts make, up to what vanishes."""
        left = [(k, {t: c for t, c in k.terms.items() if not found.vanishes(t)}) for k in self._always()]
        opposites: dict[frozenset[tuple[ClientQuantity, Scalar]], Fact] = {}
        for fact, terms in left:
            opposites.setdefault(frozenset((t, -c) for t, c in terms.items()), fact)
        for fact, terms in left:
            other = opposites.get(frozenset(terms.items())) if terms else None
            if other is not None:
                gone = [t for k in (fact, other) for t in k.terms if t not in terms]
                given = tuple(c for t in gone if (c := found.how(VANISHES, t)) is not None)
                self._equation(found, terms, True, RuleUse("equation", (fact, other), given))

    def _equation(self, found: Derivation, terms: Mapping[ClientQuantity, Scalar], zero: bool, step: RuleUse) -> None:
        if all(terms != e.terms or zero != e.zero for e in found.equations):
            found.equations.append(Equation(terms, zero, step))

    def _solve(self, found: Derivation) -> None:
        for equation in found.equations:
            for kind in (VANISHES, CONVERGES) if equation.zero else (CONVERGES,):
                how = {t: found.how(kind, t) for t in equation.terms}
                left = [t for t, c in how.items() if c is None]
                if len(left) == 1:
                    given = tuple(c for c in how.values() if c is not None)
                    step = replace(equation.step, given=(*equation.step.given, *given))
                    found.add(kind, left[0], step)

    def _form(self, found: Derivation) -> None:
        """Add the conclusions that follow from how a quantity is composed of vectors."""
        for t in self.terms:
            if not self._own(t.of):
                continue
            function = t.of.function
            if isinstance(function, Inner):
                self._inner(t, function, found)
            if _is_away(function):
                self._away(t, function, found)

    def _inner(self, t: ClientQuantity, function: Inner, found: Derivation) -> None:
        u, v = (_with(t, Square(part)) for part in (function.left, function.right))
        for first, second in ((u, v), (v, u)):
            size = found.how(BOUNDED, second)
            for kind in (VANISHES, BOUNDED):
                how = found.how(kind, first)
                if how is not None and size is not None:
                    found.add(kind, t, RuleUse("Cauchy-Schwarz", given=(how, size)))

    def _away(self, t: ClientQuantity, function: Square | Away, found: Derivation) -> None:
        away = function.of if isinstance(function, Square) else function
        assert isinstance(away, Away)
        if isinstance(function, Square):
            size = found.how(BOUNDED, _with(t, Square(away.of)))
            if size is not None:
                found.add(BOUNDED, t, RuleUse("triangle", given=(size,)))
            inner = _before_map(away)
            if inner is not None and isinstance(away.of, Image) and self._continuous(away.of.map):
                how = found.how(VANISHES, _with(t, Square(inner)))
                if how is not None:
                    found.add(VANISHES, t, RuleUse("continuity", given=(how,)))
        for gap, other in _between(function, self.terms):
            first, second = found.how(VANISHES, _with(t, gap)), found.how(VANISHES, _with(t, other))
            if first is not None and second is not None:
                found.add(VANISHES, t, RuleUse("triangle", given=(first, second)))

    def _continuous(self, map: Of) -> bool:
        return any(isinstance(says, Lipschitz) and says.map is map for says in self.meanings)

    def _settle(self, found: Derivation) -> None:
        """Vectors that converge, to an unknown limit."""
        for says in self.meanings:
            how = found.how(VANISHES, term(says.move, None)) if isinstance(says, Isolated) else None
            if how is not None:
                point = ClientQuantity(At(self.iteration, says.point), None)
                found.add(CONVERGES, point, RuleUse("isolated accumulation point", given=(how,)))
        for t in self.terms:
            gap = t.of.function.of if self._own(t.of) and isinstance(t.of.function, Square) else None
            how = found.how(VANISHES, t)
            if how is None or not isinstance(gap, Difference):
                continue
            for one, other in ((gap.left, gap.right), (gap.right, gap.left)):
                limit = self._settled(t, other, found)
                if limit is not None:
                    found.add(CONVERGES, _vector(t, one), RuleUse("the same limit", given=(how, limit)))

    def _settled(self, t: ClientQuantity, u: Of, found: Derivation) -> Conclusion | None:
        """Return the conclusion that the vector u, a part of a term, converges."""
        if found.how(CONVERGES, _vector(t, u)) is None and isinstance(u, Image) and self._continuous(u.map):
            inner = self._settled(t, u.of, found)
            if inner is not None:
                found.add(CONVERGES, _vector(t, u), RuleUse("the same limit", given=(inner,)))
        return found.how(CONVERGES, _vector(t, u))

    def _total(self, found: Derivation) -> None:
        for t in self.terms:
            if self._own(t.of) and not t.of.each and isinstance(t.of.function, Total):
                part = replace(t.of, function=t.of.function.of, each=True)
                for kind in (VANISHES, BOUNDED):
                    how = [found.how(kind, ClientQuantity(part, i)) for i in self.clients]
                    given = tuple(c for c in how if c is not None)
                    if given and len(given) == len(how):
                        found.add(kind, t, RuleUse("sum over clients", given=given))

    def _dominate(self, found: Derivation, certain: bool) -> None:
        """Domination of a square, or (not ``certain``) of anything, which has to be shown not to be negative.

        Signs of the coefficients are enough for it.
        """
        for fact in (k for k in self.facts if k.case is None):
            for kind in (VANISHES, BOUNDED):
                how = {t: found.how(kind, t) for t in fact.terms}
                left = [t for t, c in how.items() if c is None]
                if len(left) == 1 and fact.terms[left[0]] < 0 and (left[0].never_negative or not certain):
                    given = tuple(c for c in how.values() if c is not None)
                    found.add(kind, left[0], RuleUse("domination", (fact,), given, (left[0],)))

    def _recur(self, found: Derivation) -> None:
        for case, otherwise in self.iteration.cases:
            meant = any(isinstance(says, Recurs) and says.case is case for says in self.meanings)
            if meant or (case, otherwise) in self.iteration.recurring:
                self._recur_in(case, otherwise, found)

    def _recur_in(self, case: Hypothesis, otherwise: Hypothesis, found: Derivation) -> None:
        for x in (t for t in self.terms if self._own(t.of) and not found.vanishes(t)):
            within = [(f, s) for f in self.facts if f.case is case and (s := _factor(f, x, found)) is not None]
            without = [(f, s) for f in self.facts if f.case is otherwise and (s := _factor(f, x, found)) is not None]
            for f, a in within:
                other = (g for g, b in without if g.client == f.client and (a <= 0 or (a < 1 and b <= 1)))
                g = next(other, None)
                if g is not None:
                    gone = [c for k in (f, g) for t in k.terms if (c := found.how(VANISHES, t)) is not None]
                    found.add(VANISHES, x, RuleUse("recurrence", (f, g), tuple(gone), (x,)))
                    break

    def _own(self, of: Any) -> TypeGuard[At]:
        return isinstance(of, At) and of.iteration is self.iteration


def _split(
    fact: Fact,
) -> tuple[dict[ClientQuantity, Scalar], dict[ClientQuantity, Scalar], dict[ClientQuantity, Scalar]]:
    """Coefficients of functions of the state before the iteration, of those after it, and of other quantities."""
    early: dict[ClientQuantity, Scalar] = {}
    late: dict[ClientQuantity, Scalar] = {}
    for t, c in fact.terms.items():
        if isinstance(t.of, At):
            # A value shared by all clients and one of no particular client are one quantity: their coefficients add up.
            side = late if t.of.later else early
            side[t.plain] = side.get(t.plain, Fraction(0)) + c
    others = {t: c for t, c in fact.terms.items() if not isinstance(t.of, At)}
    return _nonzero(early), _nonzero(late), others


def _nonzero(terms: Mapping[ClientQuantity, Scalar]) -> dict[ClientQuantity, Scalar]:
    return {t: c for t, c in terms.items() if not is_zero(c)}


def _with(t: ClientQuantity, function: Of) -> ClientQuantity:
    """The same of another function of the state."""
    assert isinstance(t.of, At)
    return ClientQuantity(replace(t.of, function=function), t.client)


def _vector(t: ClientQuantity, u: Of) -> ClientQuantity:
    """A vector that a term is made of, as a quantity: of no client where all share it."""
    assert isinstance(t.of, At)
    if isinstance(u, Shared):
        return ClientQuantity(At(t.of.iteration, u.of), None)
    return ClientQuantity(replace(t.of, function=u, later=False), t.client)


def _is_away(function: Of) -> TypeGuard[Square | Away]:
    return isinstance(function, Away) or (isinstance(function, Square) and isinstance(function.of, Away))


def _before_map(away: Away) -> Away | None:
    """u - a, where what is given is h(u) - h(a)."""
    if isinstance(away.of, Image) and isinstance(away.fixed, Value) and away.of.map is away.fixed.map:
        return Away(away.of.of, away.fixed.fixed)
    return None


def _between(function: Square | Away, terms: Iterable[ClientQuantity]) -> Iterator[tuple[Of, Of]]:
    """u - v and v - a for those v whose u - v is among the terms, where what is given is u - a; or the
    squares of all of them."""
    away = function.of if isinstance(function, Square) else function
    assert isinstance(away, Away)
    for t in terms:
        gap = t.of.function if isinstance(t.of, At) else None
        parts = gap.of if isinstance(gap, Square) and isinstance(function, Square) else gap
        alike = isinstance(gap, Square) == isinstance(function, Square)
        if alike and isinstance(parts, Difference) and parts.left == away.of and gap is not None:
            rest = Away(parts.right, away.fixed)
            yield gap, Square(rest) if isinstance(function, Square) else rest


def _with_steps(terms: Iterable[ClientQuantity]) -> tuple[ClientQuantity, ...]:
    """The terms, and those through which they may be reached."""
    found = dict.fromkeys(terms)
    left = list(found)
    while left:
        t = left.pop()
        others = list(_steps_to(t.of.function, found)) if isinstance(t.of, At) else []
        for new in (_with(t, other).plain for other in others):
            if new not in found:
                found[new] = None
                left.append(new)
    return tuple(found)


def _steps_to(function: Of, terms: Iterable[ClientQuantity]) -> Iterator[Of]:
    if isinstance(function, Inner):
        yield from (Square(function.left), Square(function.right))
    if _is_away(function):
        yield from [other for _, other in _between(function, terms)]
        inner = _before_map(function.of) if isinstance(function, Square) and isinstance(function.of, Away) else None
        if inner is not None:
            yield Square(inner)


def _factor(fact: Fact, x: ClientQuantity, found: Derivation) -> Scalar | None:
    """b/a where the fact is that a x(k + 1) <= b x(k) + what vanishes, with a > 0."""
    left = {t: c for t, c in fact.terms.items() if not found.vanishes(t)}
    assert isinstance(x.of, At)
    after = left.pop(ClientQuantity(replace(x.of, later=True), x.client), Fraction(0))
    before = left.pop(x, Fraction(0))
    return None if left or after >= 0 else before / -after


def claims_of(steps: Iterable[RuleUse]) -> dict[str, Claim]:
    """The claims whose inequalities steps take, by id."""
    return {k.claim.id: k.claim for step in steps for k in step.facts if k.claim is not None}
