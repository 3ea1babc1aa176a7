"""The rules by which quantities are shown to vanish along every run, from inequalities that hold at every iteration.

An inequality is a sum of coefficient * quantity that is at least 0. Its coefficients are exact numbers, those of one
choice of a run's constants. x, y, q are quantities of one iteration k; V(k) and V(k + 1) are one function of the
method's state, before and after it.

- Summable decrease: if sum_j c_j q_j <= V(k) - V(k + 1) with c_j > 0 and q_j >= 0, and V is bounded below along every
  run, then the sums of the q_j over k are finite, so that q_j -> 0.
- Domination: if a x <= sum_j c_j y_j with a > 0 and x >= 0, and y_j -> 0, then x -> 0.
- Recurrence: if a x(k + 1) <= b x(k) + (what vanishes) whenever a client is selected, a' x(k + 1) <= b' x(k) + (what
  vanishes) otherwise, x >= 0, and the client is selected among any N iterations that follow each other, for some N,
  then x -> 0 provided that b <= 0, or that b < a and b' <= a'. In the first case x is at most (b'/a')^N times what
  vanishes, and less; in the second, N iterations multiply it by b/a or less, up to what vanishes.

V is bounded below if V >= c f with c > 0 at every iteration, and a hypothesis says that f is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.claims import Claim, Hypothesis
from fedtheory.iterations import At, BoundedBelow, Iteration, Recurs, Root
from fedtheory.rational import Array
from fedtheory.statements import Inequality

#: A quantity, told from others by the function that computes it.
Of = Callable[[Any, Any, Any], Array]


@dataclass(frozen=True)
class Known:
    """An inequality of ``claim``: the sum of ``terms``, each a coefficient of a quantity, is at least 0.

    ``case``: the hypothesis on who takes part under which it holds, None where it holds at every iteration.
    """

    claim: Claim
    terms: Mapping[Of, Fraction]
    case: Hypothesis | None = None


@dataclass
class Derivation:
    """What was derived: for each quantity that vanishes how; ``used``: claims it rests on; ``nonnegative``: quantities
    that must not be negative for it."""

    vanishing: dict[Of, str] = field(default_factory=dict)
    used: dict[str, Claim] = field(default_factory=dict)
    nonnegative: dict[Of, None] = field(default_factory=dict)

    def vanishes(self, of: Of) -> bool:
        """Whether the quantity tends to 0 along every run."""
        return plain(of) in self.vanishing

    def add(self, of: Of, rule: str, known: Sequence[Known]) -> None:
        """Note that a quantity vanishes, if it is nonnegative."""
        self.vanishing[plain(of)] = f"{rule}, {', '.join(k.claim.id for k in known)}"
        self.nonnegative[of] = None
        self.used.update({k.claim.id: k.claim for k in known})


def plain(of: Of) -> Of:
    """The quantity whose vanishing is the same: before the iteration in place of after it, and without a root."""
    if isinstance(of, Root):
        return plain(of.of)
    return replace(of, later=False) if isinstance(of, At) else of


def known(claim: Claim, values: Mapping[sympy.Expr, Any], case: Hypothesis | None) -> Iterator[Known]:
    """The inequalities of a claim at the values of its letters. ``ValueError`` where one is not linear."""
    if not isinstance(claim.statement, Inequality):
        raise ValueError(f"{claim.id} is no inequality at every iteration")
    letters = {letter: _rational(value) for letter, value in values.items()}
    quantities = claim.statement.quantities
    if any(q.domain is not None or q.after for q in quantities):
        raise ValueError(f"{claim.id} speaks of quantities that need not be finite, or of expectations")
    for comparison in claim.statement.comparisons:
        gap = sympy.expand((comparison.right - comparison.left).subs(letters))
        coefficients = {q: gap.coeff(q.expression) for q in quantities}
        rest = sympy.expand(gap - sum(c * q.expression for q, c in coefficients.items()))
        if comparison.relation == "==" or rest != 0 or not all(c.is_Rational for c in coefficients.values()):
            raise ValueError(f"{claim.id} is no inequality that is linear in its quantities")
        terms: dict[Of, Fraction] = {}
        for q, c in coefficients.items():
            terms[q.of] = terms.get(q.of, Fraction(0)) + Fraction(int(c.p), int(c.q))
        yield Known(claim, {of: c for of, c in terms.items() if c != 0}, case)


def _rational(value: Any) -> sympy.Rational:
    exact = Fraction(value)
    return sympy.Rational(exact.numerator, exact.denominator)


def derive(iteration: Iteration, assumed: Iterable[Hypothesis], facts: Sequence[Known]) -> Derivation:
    """All that the rules derive from the facts, under what hypotheses say of runs."""
    meanings = [h.says for h in assumed if h.says is not None]
    found = Derivation()
    while True:
        before = len(found.vanishing)
        for fact in facts:
            if fact.case is None:
                _decrease(iteration, meanings, facts, fact, found)
                _dominate(fact, found)
        if any(isinstance(says, Recurs) and says.case is iteration.selected for says in meanings):
            _recur(iteration, facts, found)
        if len(found.vanishing) == before:
            return found


def _split(fact: Known) -> tuple[dict[At, Fraction], dict[At, Fraction], dict[Of, Fraction]]:
    """Coefficients of functions of the state before the iteration, of those after it, and of other quantities."""
    early = {of: c for of, c in fact.terms.items() if isinstance(of, At) and not of.later}
    late = {replace(of, later=False): c for of, c in fact.terms.items() if isinstance(of, At) and of.later}
    return early, late, {of: c for of, c in fact.terms.items() if not isinstance(of, At)}


def _decrease(
    iteration: Iteration, meanings: Sequence[Any], facts: Sequence[Known], fact: Known, found: Derivation
) -> None:
    early, late, others = _split(fact)
    same = bool(early) and late == {of: -c for of, c in early.items()}
    if not same or any(of.iteration is not iteration for of in early) or any(c > 0 for c in others.values()):
        return
    new = [of for of in others if not found.vanishes(of)]
    bound = next((f for f in facts if new and _bounds(iteration, meanings, f, early)), None)
    for of in new if bound is not None else ():
        assert bound is not None
        found.add(of, "summable decrease", (fact, bound))


def _bounds(iteration: Iteration, meanings: Sequence[Any], fact: Known, potential: Mapping[At, Fraction]) -> bool:
    """Whether the fact is that the potential is at least a positive multiple of what a hypothesis bounds below."""
    early, late, others = _split(fact)
    rest = {of: early.get(of, Fraction(0)) - potential.get(of, Fraction(0)) for of in {*early, *potential}}
    rest = {of: c for of, c in rest.items() if c != 0}
    if fact.case is not None or late or others or len(rest) != 1:
        return False
    ((of, c),) = rest.items()
    said = any(isinstance(says, BoundedBelow) and says.function is of.function for says in meanings)
    return said and c < 0 and of.iteration is iteration and not of.each


def _dominate(fact: Known, found: Derivation) -> None:
    left = {of: c for of, c in fact.terms.items() if not found.vanishes(of)}
    if len(left) == 1:
        ((of, c),) = left.items()
        if c < 0:
            found.add(of, "domination", (fact,))


def _recur(iteration: Iteration, facts: Sequence[Known], found: Derivation) -> None:
    functions = {plain(of) for f in facts for of in f.terms if isinstance(of, At) and of.iteration is iteration}
    for x in sorted((of for of in functions if not found.vanishes(of)), key=repr):
        assert isinstance(x, At)
        selected = [(f, s) for f in facts if f.case is iteration.selected and (s := _factor(f, x, found)) is not None]
        idle = [(f, s) for f in facts if f.case is iteration.idle and (s := _factor(f, x, found)) is not None]
        pairs = ((f, g) for f, a in selected for g, b in idle if a <= 0 or (a < 1 and b <= 1))
        pair = next(pairs, None)
        if pair is not None:
            found.add(x, "recurrence", pair)


def _factor(fact: Known, x: At, found: Derivation) -> Fraction | None:
    """b/a where the fact is that a x(k + 1) <= b x(k) + what vanishes, with a > 0."""
    left = {of: c for of, c in fact.terms.items() if not found.vanishes(of)}
    after = left.pop(replace(x, later=True), Fraction(0))
    before = left.pop(x, Fraction(0))
    return None if left or after >= 0 else before / -after
