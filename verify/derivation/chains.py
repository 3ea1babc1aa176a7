"""Lift claims about one or two iterations to claims about every iteration of a run.

Every iteration of a run is an iteration of the setting: it starts from what earlier iterations preserve, and the
initial state is checked to satisfy that too. So premises that hold for any iteration hold at each index j of the run, 0
<= j <= k. If they imply that a function V of the state is nonincreasing, V(after) <= V(before), then for i <= j the
value of V after iteration j is at most its value after iteration i, and likewise before them: the decrease is applied j
- i times. The premise may be split into two cases, one of which holds in every iteration, and for V >= 0 it may be
scaled: a V(after) <= b V(before) with b <= a.

If client i rests since iteration k_i, iterations k_i + 1, ..., k are idle, and a premise about idle iterations gives V
at k <= V at k_i + 1. Where clients take part in whole rounds, k_i is the last iteration of a round, k_i + 1 = a k_0.
Where everybody takes part in each window of s_0 rounds besides, no window lies between: any 2 s_0 - 1 rounds that
follow each other contain one, and of the rounds a, ..., t, that of k, there are 2 s_0 - 2 at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple, TypeVar

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.meanings import Cover, Resting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import Along, At, Then
from fedtheory.settings.relations import Comparison
from verify.derivation import facts, obligations
from verify.derivation.facts import ClientQuantity, Coefficient, Fact
from verify.derivation.for_all import RuleResult
from verify.derivation.obligations import Premise
from verify.derivation.rules import RuleUse
from verify.exact import reals, symbolic

#: The rule's name.
RULE = "every iteration"
_Kind = TypeVar("_Kind", Cover, Resting)
#: A sum of coefficients times functions of the state in one iteration.
Sum = Mapping[At, Coefficient]


@dataclass(frozen=True)
class Linked:
    """A statement that the rule covers: its quantities, by their symbols, the letters that stand in it, in its indices
    or its hypotheses, who takes part, and since when the client ``rests``. It says nothing of an ``infimum``."""

    numbers: tuple[tuple[sympy.Expr, Then], ...]
    letters: frozenset[sympy.Basic]
    windows: Cover | None = None
    rests: Resting | None = None
    infimum: None = None

    @property
    def along(self) -> Along:
        """The runs that it covers."""
        return self.numbers[0][1].along


def speaks_of(claim: Claim) -> bool:
    """Return True if a claim involves numbers of iterations of runs."""
    return any(isinstance(quantity.of, Then) for quantity in claim.statement.quantities)


def read(claim: Claim) -> Linked:
    """Return the claim in the form that the rule uses. Raise ``ValueError`` if the rule does not cover the claim."""
    statement, sources = claim.statement, claim.setting.sources
    if type(statement) is not Inequality or statement.strict:
        raise ValueError("the rule covers non-strict inequalities only")
    plain = [q for q in statement.quantities if not q.after and q.domain is None]
    numbers = tuple((q.expression, q.of) for q in plain if isinstance(q.of, Then))
    if len(numbers) < len(statement.quantities):
        raise ValueError("a quantity does not belong to an iteration of a run")
    along = numbers[0][1].along
    if any(of.along is not along or of.of.iteration is not along.iteration for _, of in numbers):
        raise ValueError("the quantities belong to runs of different kinds")
    pairs = {pair for _, of in numbers for pair in of.letters}
    if any(sources.get(letter) is not source for letter, source in pairs) or sources.get(along.last) != "k":
        raise ValueError("the letters of the index or of the last iteration differ from the claim's")
    sides = [side for c in statement.comparisons for side in (c.left, c.right)]
    symbols = (
        sympy.Tuple(*sides, *symbolic.assumed(claim)).free_symbols | {letter for letter, _ in pairs} | {along.last}
    )
    windows, rests = _meaning(claim, Cover), _meaning(claim, Resting)
    meant = set() if windows is None else {windows.length, windows.rounds}
    meant |= set() if rests is None else {rests.since}
    if not meant <= set(sources):
        raise ValueError("a letter of who takes part has no value in runs")
    return Linked(numbers, frozenset((symbols | meant) & set(sources)), windows, rests)


def _meaning(claim: Claim, kind: type[_Kind]) -> _Kind | None:
    """The meaning of a kind that a claim's hypotheses have. Raise ``ValueError`` if there are several."""
    found = [says for h in claim.requires for says in h.says if isinstance(says, kind)]
    if len(found) > 1:
        raise ValueError("several hypotheses say who takes part")
    return found[0] if found else None


def _of_rest(linked: Linked, assumed: Sequence[sympy.Basic]) -> tuple[sympy.Basic, ...]:
    """Relations between letters where the client rests: k_i + 1 = a k_0 <= t k_0 <= k < (t + 1) k_0, and t - a + 1 <= 2
    s_0 - 2, with further symbols for integers."""
    windows, rests, k = linked.windows, linked.rests, linked.along.last
    if rests is None:
        return ()
    since = sympy.Ge(rests.since, 0, evaluate=False), sympy.Ge(k, rests.since + 1, evaluate=False)
    if windows is None:
        return since
    length, a = windows.length, sympy.Dummy("a", integer=True)
    whole = whole_rounds(k, length, assumed)
    t = sympy.Dummy("t", integer=True) if whole is None else whole
    return (
        *since,
        sympy.Eq(rests.since, a * length - 1, evaluate=False),
        sympy.Le(t * length, k, evaluate=False),
        sympy.Le(k, (t + 1) * length - 1, evaluate=False),
        sympy.Le(a, t, evaluate=False),
        sympy.Le(t - a + 1, 2 * windows.rounds - 2, evaluate=False),
    )


def whole_rounds(last: sympy.Symbol, length: sympy.Symbol, assumed: Sequence[sympy.Basic]) -> sympy.Expr | None:
    """The integer t of which a hypothesis says that k = t k_0, or None."""
    for relation in symbolic.conjuncts(assumed):
        if isinstance(relation, sympy.Eq) and last in relation.args:
            (other,) = (side for side in relation.args if side != last)
            rounds = sympy.cancel(other / length)
            if rounds.is_integer and not rounds.has(last, length):
                return rounds
    return None


def added(claim: Claim, premises: Sequence[Premise]) -> RuleResult:
    """Derive a claim for all letters. Raise ``ValueError`` with the step that fails, or the assumption that is
    missing.
    """
    linked = read(claim)
    assumed = (*symbolic.assumed(claim), *linked.along.iteration.limits)
    assumed = (*assumed, *_of_rest(linked, assumed))
    for index in {of.index for _, of in linked.numbers}:
        within = sympy.Ge(index, 0, evaluate=False), sympy.Le(index, linked.along.last, evaluate=False)
        if not all(reals.implied(relation, assumed) for relation in within):
            raise ValueError(f"the run need not reach the iteration with index {index}")
    known = [fact for p in premises for fact in facts.known(p.claim, assumed, p.case, 0) if not fact.signs]
    shown = [_shown(_by_index(c, linked, assumed), known, linked, assumed) for c in claim.statement.comparisons]
    used = tuple(fact for one in shown for fact in one.facts)
    step = RuleUse(RULE, used, nonnegative=tuple(ClientQuantity(of, None) for one in shown for of in one.nonnegative))
    claims = {fact.claim.id: fact.claim for fact in used if fact.claim is not None}
    iteration = linked.along.iteration
    signs = [next(obligations.own(iteration, [of])) for of in obligations.nonnegative([step], [])]
    return RuleResult((step,), tuple(claims.values()), (*signs, *obligations.own(iteration, [])))


class _Grounds(NamedTuple):
    """The facts by which a comparison holds, and functions of the state that must not be negative for that."""

    facts: tuple[Fact, ...]
    nonnegative: tuple[At, ...] = ()


def _of_state(fact: Fact) -> Sum:
    """A fact about functions of the state; of anything else nothing."""
    found = {t.of: c for t, c in fact.terms.items() if isinstance(t.of, At) and isinstance(c, Coefficient)}
    return found if len(found) == len(fact.terms) else {}


def _by_index(comparison: Comparison, linked: Linked, assumed: tuple[sympy.Basic, ...]) -> dict[sympy.Expr, Sum]:
    """right - left as sums of functions of the state in one iteration each."""
    if comparison.relation != "<=":
        raise ValueError("a comparison is an inequality that is not strict")
    rest = sympy.expand(comparison.right - comparison.left)
    sums: dict[sympy.Expr, dict[At, Coefficient]] = {}
    for symbol, number in linked.numbers:
        c = rest.coeff(symbol)
        rest = sympy.expand(rest - c * symbol)
        if c != 0:
            of = sums.setdefault(number.index, {})
            of[number.of] = Coefficient.of(c, assumed) + of.get(number.of, 0)
    coefficients = sympy.Tuple(*(c.value for of in sums.values() for c in of.values()))
    if not sums and reals.holds(comparison, assumed):
        return {}
    if rest != 0 or coefficients.has(*(symbol for symbol, _ in linked.numbers)):
        raise ValueError("a comparison is not an inequality linear in the quantities")
    return dict(sums)


def _shown(
    sums: Mapping[sympy.Expr, Sum], known: Sequence[Fact], linked: Linked, assumed: tuple[sympy.Basic, ...]
) -> _Grounds:
    """The argument by which a comparison holds. Raise ``ValueError`` if nothing shows it."""
    if not sums:
        return _Grounds(())
    if (found := _at_rest(sums, known, linked, assumed)) is not None:
        return found
    wanted: list[Sum] = list(sums.values()) if len(sums) == 1 else []
    for (i, early), (j, late) in permutations(sums.items()) if len(sums) == 2 else ():
        alike = len({of.later for of in (*early, *late)}) == 1 and _same(early, {of: -c for of, c in late.items()})
        if alike and reals.implied(sympy.Le(i, j, evaluate=False), assumed):
            wanted.append({replace(of, later=on): -c if on else c for of, c in early.items() for on in (False, True)})
            if (found := _in_cases(early, known, linked)) is not None:
                return found
    for fact in known:
        terms = _of_state(fact) if fact.case is None else {}
        # In letters that are the same in all iterations.
        if all(c.value.free_symbols <= linked.letters for c in terms.values()) and any(_same(terms, w) for w in wanted):
            return _Grounds((fact,))
    raise ValueError("no premise states this for every iteration")


def _at_rest(
    sums: Mapping[sympy.Expr, Sum], known: Sequence[Fact], linked: Linked, assumed: tuple[sympy.Basic, ...]
) -> _Grounds | None:
    """The reason why V at one iteration is at most V at another, between which the client rests."""
    if linked.rests is None or len(sums) != 2:
        return None
    for (i, early), (j, late) in permutations(sums.items()):
        # V(i) - V(j), each before its iteration or after it, which is before the next.
        alike = all(len({of.later for of in V}) == 1 for V in (early, late))
        starts, ends = (index + int(all(of.later for of in V)) for index, V in ((i, early), (j, late)))
        V = {replace(of, later=False): c for of, c in early.items()}
        within = (
            sympy.Le(linked.rests.since + 1, starts, evaluate=False),
            sympy.Le(starts, ends, evaluate=False),
            sympy.Le(ends, linked.along.last + 1, evaluate=False),
        )
        same = alike and _same(V, {replace(of, later=False): -c for of, c in late.items()})
        if not same or not all(reals.implied(relation, assumed) for relation in within):
            continue
        step = {replace(of, later=on): -c if on else c for of, c in V.items() for on in (False, True)}
        for fact in known:
            if fact.case in (None, linked.along.iteration.idle) and _same(_of_state(fact), step):
                return _Grounds((fact,))
    return None


def _in_cases(V: Sum, known: Sequence[Fact], linked: Linked) -> _Grounds | None:
    """The reason why a multiple of one function of the state does not rise, in two cases one of which holds."""
    (of, *others), (times, *_) = V, V.values()
    before = replace(of, later=False)
    for pair in linked.along.iteration.cases if not others and times > 0 else ():
        found = [next(_falling(before, known, case), None) for case in pair]
        if (both := tuple(fact for fact in found if fact is not None)) and len(both) == len(pair):
            return _Grounds(both, (before,))
    return None


def _falling(V: At, known: Sequence[Fact], case: Hypothesis) -> Iterator[Fact]:
    """The facts that in a case a V(after) <= b V(before) with 0 <= b <= a and a > 0: V does not rise where V >= 0."""
    after = replace(V, later=True)
    for fact in known:
        terms = _of_state(fact)
        if fact.case is case and set(terms) == {V, after}:
            b, a = terms[V], -terms[after]
            if a > 0 and 0 <= b and b <= a:
                yield fact


def _same(one: Sum, other: Sum) -> bool:
    """Return True if two sums are equal for all letters."""
    return set(one) == set(other) and all((one[of] - other[of]).value == 0 for of in one)
