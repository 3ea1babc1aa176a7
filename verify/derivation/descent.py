"""Sum the decrease of every iteration: along every run the least value of a number is at most a bound in k.

V is a function of the state, G a number of an iteration, and U a sum over the clients that have not yet taken part. The
premises are inequalities for all letters, at every iteration that a run may have:

- V(j + 1) <= V(j);
- g G(j) <= V(j) - V(j + 1) + U(j) with g > 0, where iteration j begins a round;
- V(j) >= l f(j) with l >= 0, up to nonnegative terms, where f* is the infimum of f.

Let x be the number of iterations among s_0 k_0, ..., k that begin a round, that is, those p k_0 with s_0 <= p <= k/k_0,
so that x k_0 > k - s_0 k_0, and x = t - s_0 + 1 where k = t k_0. In these U = 0, since every client took part in some
round of the first window. They are among the iterations 0, ..., k, and V increases in none of them: g x times the least
value of G over any set of iterations that contains them is at most V(0) - V(k + 1), hence at most V(0) - l f*. The
terms of V(0) that count clients which took part are 0. So the least value is at most B if g x B - V(0) + l f* is a sum
of nonnegative terms and of inequalities that hold at the start, each with a nonnegative multiplier. So is one bound at
most another where their difference is such a sum; and the least over some iterations is at most that over fewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.meanings import Windows
from fedtheory.settings.iterations import Along, At, Infimum, Least, Start
from fedtheory.settings.quantities import Among
from verify.derivation import facts, obligations
from verify.derivation.chains import whole_rounds
from verify.derivation.facts import ClientQuantity, Coefficient, Fact, Of
from verify.derivation.for_all import RuleResult
from verify.derivation.obligations import Premise
from verify.derivation.rules import RuleUse
from verify.exact import reals, symbolic

#: The rule's name.
RULE = "added falls"
#: A sum of coefficients times what they are of: functions of the state, before an iteration, or (None) f*.
Sum = Mapping[At | None, Coefficient]


#: A bound: coefficients of numbers of the start and (None) of the infimum.
Bound = Mapping[At | None, sympy.Expr]


@dataclass(frozen=True)
class Bounded:
    """A statement that the rule covers: which ``sides``, each the least of a number or a bound, are at most which, the
    infimum, who takes part, and the letters that stand in it, in its indices or its hypotheses."""

    sides: tuple[tuple[Least | Bound, Least | Bound], ...]
    infimum: Infimum
    windows: Windows
    letters: frozenset[sympy.Basic]

    @property
    def along(self) -> Along:
        """The runs that it covers."""
        return self.infimum.along


def speaks_of(claim: Claim) -> bool:
    """Return True if a claim bounds the least value of a number along runs."""
    return any(isinstance(quantity.of, Least) for quantity in claim.statement.quantities)


def read(claim: Claim) -> Bounded:
    """Return the claim in the form that the rule uses. Raise ``ValueError`` if the rule does not cover the claim."""
    statement = claim.statement
    windows = [says for h in claim.requires for says in h.says if isinstance(says, Windows)]
    if type(statement) is not Inequality or any(c.relation != "<=" for c in statement.comparisons) or len(windows) != 1:
        raise ValueError("the rule covers bounds, along runs in which every client takes part in each window")
    if any(q.after or q.domain is not None or type(q.of) not in (Least, Start, Infimum) for q in statement.quantities):
        raise ValueError("a quantity does not belong to a whole run")
    of_runs = [q.of for q in statement.quantities if isinstance(q.of, Least | Start | Infimum)]
    infima = [of for of in of_runs if isinstance(of, Infimum)]
    if len(infima) != 1:
        raise ValueError("a bound is made of exactly one infimum")
    sides = tuple((_side(c.left, statement), _side(c.right, statement)) for c in statement.comparisons)
    pairs = {pair for of in of_runs if isinstance(of, Least) for pair in of.letters}
    sources = claim.setting.sources
    symbols = sympy.Tuple(*(side for c in statement.comparisons for side in (c.left, c.right))).free_symbols
    symbols |= sympy.Tuple(*symbolic.assumed(claim)).free_symbols | {letter for letter, _ in pairs}
    bounded = Bounded(sides, infima[0], windows[0], frozenset(symbols & set(sources)))
    if any(of.along is not bounded.along or of.of.iteration is not bounded.along.iteration for of in of_runs):
        raise ValueError("the quantities belong to runs of different kinds")
    if not {bounded.along.last, bounded.windows.length, bounded.windows.rounds} <= bounded.letters:
        raise ValueError("the length of the run, of its rounds or of its windows does not occur")
    if sources[bounded.along.last] != "k" or any(sources.get(letter) is not source for letter, source in pairs):
        raise ValueError("the letters of an index or of the last iteration differ from the claim's")
    return bounded


def _side(side: sympy.Expr, statement: Inequality) -> Least | Bound:
    """A side of a comparison. Raise ``ValueError`` if it is neither the least of a number nor a bound."""
    for q in statement.quantities:
        if isinstance(q.of, Least) and q.expression == side:
            return q.of
    rest, names = sympy.expand(side), {q.expression for q in statement.quantities}
    bound: dict[At | None, sympy.Expr] = {}
    for q in statement.quantities:
        if isinstance(q.of, Start | Infimum):
            c, key = rest.coeff(q.expression), None if isinstance(q.of, Infimum) else q.of.of
            bound[key] = bound.get(key, sympy.S.Zero) + c
            rest = sympy.expand(rest - c * q.expression)
    if rest != 0 or any(c.has(*names) for c in bound.values()):
        raise ValueError("a bound is not linear in quantities")
    return bound


def added(claim: Claim, premises: Sequence[Premise]) -> RuleResult:
    """Derive a claim for all letters. Raise ``ValueError`` with the step that fails, or the assumption that is
    missing.
    """
    bounded = read(claim)
    iteration, windows, last = bounded.along.iteration, bounded.windows, bounded.along.last
    late = windows.rounds * windows.length
    assumed = (*symbolic.assumed(claim), *iteration.limits)
    if not reals.implied(sympy.Gt(last, late, evaluate=False), assumed):
        raise ValueError("the run may end within its first window")
    rounds = whole_rounds(last, windows.length, assumed)
    if rounds is None:
        # x is (k - s_0 k_0)/k_0 times more than 1.
        count = (last - late) / windows.length * (1 + sympy.Dummy("y", positive=True))
    else:
        count = rounds - windows.rounds + 1
    known = [_of_state(fact, bounded.letters) for p in premises for fact in facts.known(p.claim, assumed, p.case, 0)]
    used: list[Fact] = []
    nonnegative: list[At] = []
    for small, large in bounded.sides:
        if isinstance(small, Least) and isinstance(large, Least):
            _check_fewer(large, small, bounded, assumed)
        elif isinstance(large, Least):
            raise ValueError("the least of a number is bounded from below")
        else:
            at = {} if rounds is None else {last: windows.length * rounds}
            bound = {t: c.subs(at) for t, c in large.items()}
            if isinstance(small, Least):
                _check_counted(small, windows, assumed)
                shown = _bounded(bounded, small, bound, known, assumed, count)
            else:
                shown = _larger(bounded, {t: c.subs(at) for t, c in small.items()}, bound, known, assumed)
            used += shown[0]
            nonnegative += shown[1]
    claims = {k.claim.id: k.claim for k in used if k.claim is not None}
    step = RuleUse(RULE, tuple(used), nonnegative=tuple(ClientQuantity(of, None) for of in nonnegative))
    shown_too = obligations.nonnegative([step], [])
    own = [*(next(obligations.own(iteration, [of])) for of in shown_too), *obligations.own(iteration, [])]
    return RuleResult((step,), tuple(claims.values()), tuple(own))


def _check_counted(least: Least, windows: Windows, assumed: Sequence[sympy.Basic]) -> None:
    """Raise ``ValueError`` unless a minimum is over all first iterations of rounds from round s_0 on, at least."""
    late = windows.rounds * windows.length
    every = least.every == 1 or (least.every == windows.length and _is_multiple(least.first, windows.length))
    if not every or not reals.implied(sympy.Ge(late, least.first, evaluate=False), assumed):
        raise ValueError("the minimum is not taken over all iterations that count")


def _check_fewer(fewer: Least, more: Least, bounded: Bounded, assumed: Sequence[sympy.Basic]) -> None:
    """Raise ``ValueError`` unless the one minimum is over iterations, of which there are some, that are among those of
    the other."""
    if fewer.of != more.of:
        raise ValueError("the minima are of different numbers")
    among = more.every == 1 or (more.every == fewer.every and _is_multiple(fewer.first - more.first, more.every))
    least = sympy.Ge(fewer.first, more.first, evaluate=False), sympy.Ge(bounded.along.last, fewer.first, evaluate=False)
    if not among or not all(reals.implied(relation, assumed) for relation in least):
        raise ValueError("one minimum need not be over iterations of the other")


def _is_multiple(index: sympy.Expr | int, of: sympy.Expr | int) -> bool:
    return bool(sympy.cancel(sympy.sympify(index) / of).is_integer)


class _NonNegative(NamedTuple):
    """An inequality, as that a sum is at least 0: in the state before an iteration, and in the one after it."""

    known: Fact | None
    early: Sum
    late: Sum

    @property
    def always(self) -> bool:
        """Return True if it holds at every iteration."""
        return self.known is None or self.known.case is None


def _of_state(known: Fact, letters: frozenset[sympy.Basic]) -> _NonNegative:
    """A fact about functions of the state, in letters of the run. Raise ``ValueError`` if it is about anything else."""
    early: dict[At | None, Coefficient] = {}
    late: dict[At | None, Coefficient] = {}
    for t, c in known.terms.items():
        if not isinstance(t.of, At) or t.of.each or known.signs or not isinstance(c, Coefficient):
            raise ValueError("a premise involves a quantity that is not a function of the state")
        if not c.value.free_symbols <= letters:
            raise ValueError(
                "a premise has letters that the claim lacks and that may change from one iteration to the next"
            )
        (late if t.of.later else early)[replace(t.of, later=False)] = c
    return _NonNegative(known, early, late)


def _of_start(bounded: Bounded, known: Sequence[_NonNegative], assumed: tuple[sympy.Basic, ...]) -> list[_NonNegative]:
    """The inequalities that hold where runs begin."""
    one, f = Coefficient.of(sympy.S.One, assumed), bounded.infimum.of
    return [*(fact for fact in known if fact.always and not fact.late), _NonNegative(None, {f: one, None: -one}, {})]


def _larger(
    bounded: Bounded, small: Bound, large: Bound, known: Sequence[_NonNegative], assumed: tuple[sympy.Basic, ...]
) -> tuple[list[Fact], list[At]]:
    """The facts by which one bound is at most the other, and the quantities that have to be nonnegative."""
    one, other = ({t: Coefficient.of(c, assumed) for t, c in bound.items()} for bound in (small, large))
    taken, more = _shown(_less(other, one), _of_start(bounded, known, assumed))
    return [fact.known for fact in taken if fact.known is not None], more


def _bounded(
    bounded: Bounded,
    small: Least,
    bound: Bound,
    known: Sequence[_NonNegative],
    assumed: tuple[sympy.Basic, ...],
    count: sympy.Expr,
) -> tuple[list[Fact], list[At]]:
    """The facts by which the bound is shown, and the quantities that have to be nonnegative."""
    why = (
        "no function of the state decreases as required at every iteration that begins a round without ever increasing"
    )
    of_start, f = _of_start(bounded, known, assumed), bounded.infimum.of
    for never in (fact for fact in known if fact.always and fact.early and not _less(fact.early, fact.late, -1)):
        V = never.early
        for descent, g in _descents(small, bounded.windows, known, V):
            for below, least, rest in _below(f, known, V):
                scaled: Sum = {t: Coefficient.of(g.value * count * c, assumed) for t, c in bound.items()}
                start = {t: c for t, c in V.items() if not _is_among(t, bounded.windows.seen)}
                try:
                    taken, more = _shown(_less(_less(scaled, start), {None: least}, -1), of_start)
                except ValueError as error:
                    why = str(error)
                else:
                    facts_used = [fact.known for fact in (never, descent, below, *taken) if fact.known is not None]
                    return facts_used, [*rest, *more]
    raise ValueError(why)


def _descents(
    small: Least, windows: Windows, known: Sequence[_NonNegative], V: Sum
) -> Iterator[tuple[_NonNegative, Coefficient]]:
    """Facts that V falls by g times what the least is of in iterations that begin a round, but for sums over clients
    that never took part, and g."""
    wanted = replace(small.of, later=False)
    for fact in known:
        others, rest = _less(fact.early, V), _less(fact.late, V, -1)
        if fact.known is None or fact.known.case != windows.begins or set(rest) != {wanted}:
            continue
        g = -rest[wanted]
        if small.of.later and all(_is_among(t, windows.unseen) for t in others) and g > 0:
            yield fact, g


def _is_among(of: At | None, who: Of) -> bool:
    """Return True if ``of`` is a sum over the clients that satisfy the condition ``who``."""
    return of is not None and type(of.function) is Among and of.function.who is who


def _below(f: At, known: Sequence[_NonNegative], V: Sum) -> Iterator[tuple[_NonNegative, Coefficient, list[At]]]:
    """Facts by which V is at least a multiple of f, that multiple, and what else has to be nonnegative."""
    for fact in known:
        if not fact.always or fact.late or f not in fact.early or not fact.early[f] < 0:
            continue
        for t, c in fact.early.items():
            if t in V and t != f and c > 0:
                times = V[t] / c
                rest = dict(_less(V, fact.early, times))
                least = rest.pop(f, None)
                if least is not None and least >= 0 and times >= 0 and all(c >= 0 for c in rest.values()):
                    yield fact, least, [t for t in rest if t is not None]


def _less(one: Sum, other: Sum, times: Any = 1) -> Sum:
    """One sum less a multiple of another, without what cancels."""
    found = dict(one)
    for t, c in other.items():
        found[t] = found[t] - c * times if t in found else -(c * times)
    return {t: c for t, c in found.items() if c.value != 0}


def _shown(goal: Sum, known: Sequence[_NonNegative]) -> tuple[list[_NonNegative], list[At]]:
    """The facts at the start by whose nonnegative multiples a sum is nonnegative, and the quantities that have to be
    nonnegative.

    What has a negative coefficient is cancelled by a fact, one after another. Raise ``ValueError`` if that is not so.
    """
    taken: list[_NonNegative] = []
    left = list(known)
    while (t := next((t for t, c in goal.items() if c <= 0), _NONE)) is not _NONE:
        place = next((k for k, fact in enumerate(left) if t in fact.early and fact.early[t] < 0), None)
        if place is None:
            raise ValueError(f"nothing bounds what is taken {goal[t].value} times from above")
        fact = left.pop(place)
        times = goal[t] / fact.early[t]
        if not times >= 0:
            raise ValueError("an inequality would need a negative multiplier")
        goal = _less(goal, fact.early, times)
        taken.append(fact)
    if None in goal:
        raise ValueError("f* is bounded from above")
    return taken, [t for t in goal if t is not None]


#: No term.
_NONE: Any = object()
