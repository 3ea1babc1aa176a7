"""Bounds of T rounds as they are printed, brought to one form: quantities of x_T, of x_0 and sums over the rounds.

E[sum_j l_j(T) q_j(x_T) + sum_i sum_k w_i(k, T) S_i(x_k)] <= sum_j r_j(T) q_j(x_0) + b(T)

A quantity at an average of iterates is at most the average of the quantity where it is convex and the weights are
nonnegative (Jensen); the least of numbers is at most each of their averages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.numbers.symbols import T, round_index
from fedtheory.settings.relations import OfRun, Quantity
from fedtheory.settings.whole_runs import AtAverage, RunMinimum, RunTotal
from verify.derivation.sequences import NotFollowed, Signs, normal, plain

#: A quantity, by the function that computes it.
Of = Callable[[Any, Any, Any], Any]
#: The round whose state a term of a sum is of.
EARLIER = sympy.Dummy("earlier", integer=True, nonnegative=True)


@dataclass(frozen=True)
class RoundSum:
    """The sum of ``weight`` times a quantity of x_k: ``weight`` in T and in ``EARLIER``, the k of its term. ``after``:
    whether k = 1, ..., T, else k = 0, ..., T - 1."""

    of: Of
    weight: sympy.Expr
    after: bool


@dataclass(frozen=True)
class LeastValue:
    """``weight`` times the least value of a quantity of x_k over k = 0, ..., T, or over k = 0, ..., T - 1."""

    of: Of
    weight: sympy.Expr
    to_end: bool


@dataclass(frozen=True)
class Printed:
    """A bound in one form: the coefficients of quantities of x_T (``ends``) and of x_0 (``starts``), sums over rounds,
    and what is added on the right (``noise``), all in T.

    ``least``: the least value of a quantity over the rounds, with no weights chosen.
    ``constants``: coefficients of quantities on the right that are the same in all states, such as the heterogeneity at
    x*; ``convex``: quantities that have to be convex for it to be what is printed, ``nonnegative``: those that must
    not be negative; ``ways``: how it comes from what is printed, in words. ``more``: by how many rounds the T in it is
    larger than that of the bound.
    """

    ends: Mapping[Of, sympy.Expr]
    starts: Mapping[Of, sympy.Expr]
    sums: tuple[RoundSum, ...]
    noise: sympy.Expr
    constants: Mapping[Of, sympy.Expr] = field(default_factory=dict)
    convex: tuple[Of, ...] = ()
    nonnegative: tuple[Of, ...] = ()
    ways: tuple[str, ...] = ()
    more: int = 0
    least: LeastValue | None = None

    def times(self, factor: sympy.Expr) -> Printed:
        """The same, both sides times a factor."""

        def scaled(of: Mapping[Of, sympy.Expr]) -> dict[Of, sympy.Expr]:
            return {q: plain(c * factor) for q, c in of.items()}

        sums = tuple(replace(s, weight=plain(s.weight * factor)) for s in self.sums)
        noise, constants = plain(self.noise * factor), scaled(self.constants)
        ends, begun = scaled(self.ends), scaled(self.starts)
        least = None if self.least is None else replace(self.least, weight=plain(self.least.weight * factor))
        return replace(self, ends=ends, starts=begun, sums=sums, noise=noise, constants=constants, least=least)

    def apart(self, constants: Collection[Of]) -> Printed:
        """The same, with the quantities of x_0 that are the same in all states as ``constants``."""
        begun = {q: c for q, c in self.starts.items() if q not in constants}
        return replace(self, starts=begun, constants={q: c for q, c in self.starts.items() if q in constants})


@dataclass
class _Form:
    """A form as it is being made."""

    ends: dict[Of, sympy.Expr] = field(default_factory=dict)
    starts: dict[Of, sympy.Expr] = field(default_factory=dict)
    sums: list[tuple[Of, sympy.Expr, int, sympy.Expr]] = field(default_factory=list)
    noise: sympy.Expr = sympy.S.Zero
    convex: list[Of] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)


def names(claim: Claim) -> dict[Of, str]:
    """The names of the quantities of single states, by their functions: the first under which each is printed."""
    found: dict[Of, str] = {}
    for q in claim.statement.quantities:
        for one in q.of.inner if isinstance(q.of, OfRun) else (q,):
            found.setdefault(one.of, str(one.expression))
    return found


def read(claim: Claim, signs: Signs) -> Iterator[Printed]:
    """A bound in one form, in each way in which least values are averages, and as one of a further round where sums
    include x_T. ``NotFollowed`` says what is not read."""
    statement = claim.statement
    ((left, relation, right),) = statement.comparisons
    if relation != "<=":
        raise NotFollowed("it says that one side is less than the other, and sums show that it is at most that")
    stand = {q.expression: sympy.Dummy(str(q.expression), real=True) for q in statement.quantities}
    difference = normal(left.xreplace(stand)) - normal(right.xreplace(stand))
    dummies = set(stand.values())
    coefficients = {q: sympy.diff(difference, stand[q.expression]) for q in statement.quantities}
    if any(c.free_symbols & dummies for c in coefficients.values()):
        raise NotFollowed("it is not affine in its quantities")
    if any(q.domain is not None for q in statement.quantities):
        raise NotFollowed("a quantity is not finite everywhere")
    least = [q for q in statement.quantities if isinstance(q.of, RunMinimum)]
    rest = difference.xreplace(dict.fromkeys(dummies, sympy.S.Zero))
    for choice in product(*(_weights(claim, right) for _ in least)):
        form = _Form(noise=-rest)
        for q, c in coefficients.items():
            _add(form, q, c, dict(zip(least, choice, strict=True)), signs)
        whole = bool(form.sums) and not form.ends and all(of[2:] == (0, T) for of in form.sums)
        further = [_with_another_round(form)] if whole else []
        yield from (_in_steps(form, signs), *further)
    if len(least) == 1:
        yield from _of_least(claim, least[0], coefficients, -rest, signs)


def _of_least(
    claim: Claim,
    q: Quantity,
    coefficients: Mapping[Quantity, sympy.Expr],
    noise: sympy.Expr,
    signs: Signs,
) -> Iterator[Printed]:
    """Yield the bound with its least value as a number that is at most the quantity in every round."""
    of: Any = q.of
    if of.first != 0 or not signs.nonnegative(coefficients[q]):
        return
    form = _Form(noise=noise)
    for other, c in coefficients.items():
        if other is not q:
            _add(form, other, c, {}, signs)
    least = LeastValue(of.inner[0].of, coefficients[q], bool(of.last == T))
    yield replace(_in_steps(form, signs), least=least)


def _weights(claim: Claim, right: sympy.Expr) -> list[sympy.Expr]:
    """Weights with which least values may be averaged: 1, those of schedules and of sums on the right side."""
    schedules = claim.statement.algorithm.schedules.values()
    sums = [a.function.subs(a.limits[0][0], round_index) for a in sorted(right.atoms(sympy.Sum), key=str)]
    return list(dict.fromkeys([sympy.S.One, *schedules, *sums]))


def _add(form: _Form, q: Quantity, c: sympy.Expr, chosen: Mapping[Quantity, sympy.Expr], signs: Signs) -> None:
    of: Any = q.of
    if isinstance(of, RunTotal):
        for weight, inner in zip(of.weights, of.inner, strict=True):
            form.sums.append((inner.of, c * weight, of.first, of.last))
        if of.rest != 0:
            form.noise -= c * sympy.Sum(of.rest, (round_index, of.first, of.last))
    elif isinstance(of, AtAverage | RunMinimum):
        weight = of.weight if isinstance(of, AtAverage) else chosen[q]
        whole = of.last - of.first + 1 if weight == 1 else sympy.Sum(weight, (round_index, of.first, of.last))
        whole = normal(whole)
        # Jensen's inequality needs weights that are nonnegative, and one that is not 0.
        if not (signs.nonnegative(c) and signs.nonnegative(weight) and signs.positive(whole)):
            raise NotFollowed(
                f"the weights {weight} of an average are not shown to be nonnegative, with a positive sum"
            )
        form.sums.append((of.inner[0].of, c * weight / whole, of.first, of.last))
        if isinstance(of, AtAverage):
            form.convex.append(of.inner[0].of)
            form.ways.append("by Jensen's inequality")
        else:
            form.ways.append("as the least of numbers is at most their average")
    elif isinstance(of, OfRun):
        raise NotFollowed(f"{of} is not a sum over rounds")
    elif q.after:
        form.ends[of] = form.ends.get(of, sympy.S.Zero) + c
    else:
        form.starts[of] = form.starts.get(of, sympy.S.Zero) - c


def _in_steps(form: _Form, signs: Signs) -> Printed:
    """Sums over the states before each step, or after each: what is missing is added where it is nonnegative."""
    sums: dict[tuple[Of, bool], sympy.Expr] = {}
    nonnegative: list[Of] = []
    for of, weight, first, last in form.sums:
        after = last == T and first > 0
        if last == T and not after:
            end = weight.subs(round_index, T)
            form.ends[of] = form.ends.get(of, sympy.S.Zero) + end
        for k in range(int(after), first):
            if not signs.nonnegative(weight.subs(round_index, k)):
                raise NotFollowed(f"a sum begins with round {first}")
            nonnegative.append(of)
        key = of, after
        sums[key] = sums.get(key, sympy.S.Zero) + weight.subs(round_index, EARLIER)
    return Printed(
        form.ends,
        form.starts,
        tuple(RoundSum(of, weight, after) for (of, after), weight in sums.items()),
        form.noise,
        convex=tuple(form.convex),
        nonnegative=tuple(nonnegative),
        ways=tuple(dict.fromkeys(form.ways)),
    )


def _with_another_round(form: _Form) -> Printed:
    """Sums of T + 1 rounds: x_0, ..., x_T are the states before the steps of these."""
    sums: dict[Of, sympy.Expr] = {}
    for of, weight, *_ in form.sums:
        sums[of] = sums.get(of, sympy.S.Zero) + weight.subs(T, T - 1).subs(round_index, EARLIER)
    return Printed(
        {},
        {q: c.subs(T, T - 1) for q, c in form.starts.items()},
        tuple(RoundSum(of, weight, False) for of, weight in sums.items()),
        form.noise.subs(T, T - 1),
        convex=tuple(form.convex),
        ways=tuple(dict.fromkeys(form.ways)),
        more=1,
    )


def sums_defined(expressions: Sequence[sympy.Expr], signs: Signs) -> list[sympy.Expr]:
    """The expressions with letters for sums and products that are shown to be positive: these may stand in divisors."""
    found = {a: signs.positive(a) for e in expressions for a in e.atoms(sympy.Sum, sympy.Product)}
    named = {a: sympy.Dummy("whole", positive=True) if known else a for a, known in found.items()}
    return [e.xreplace(named) for e in expressions]
