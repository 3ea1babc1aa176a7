"""Claims from which a bound of T rounds is derived: about one round, about all states, and about where runs begin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import sympy

from fedtheory.algorithms.schedules import ROUND
from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import T, round_index
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity
from verify.derivation import printed_rounds, starts
from verify.derivation.potentials import Coefficients
from verify.derivation.printed_rounds import LeastValue, Of, Printed
from verify.derivation.sequences import NotFollowed, Sequences, Signs, plain
from verify.exact.symbolic import assumed
from verify.multipliers.cases import at_most_one, stated
from verify.multipliers.posing import Lowest
from verify.reading.program import AtStart, Exchanged


def signs_of(claim: Claim, more: int = 0) -> Signs:
    """Return what is known of the letters of a claim: its hypotheses, the bounds of its classes, and those of T, or of
    the number of rounds that is larger by ``more``.
    """
    of, since = claim.setting.functions, getattr(claim.statement, "since", 0) + more
    ends = of.ends if of is not None and stated(claim, of) else None
    known = [*assumed(claim), *(() if ends is None else [sympy.Le(*ends)])]
    names = set(at_most_one(claim))
    known += [sympy.Le(letter, 1) for letter, source in claim.setting.sources.items() if source in names]
    return Signs((*known, *((sympy.Ge(T, since, evaluate=False),) if since else ())))


def in_any_state(claim: Claim, statement: Statement) -> Claim:
    """A claim about states of a bound's setting, with any values of parameters that vary."""
    plain_claim = replace(claim, statement=statement, follows=()) if not claim.statement.algorithm.schedules else None
    return plain_claim or in_one_round(claim, statement)


def in_one_round(claim: Claim, statement: Statement, later: int = 0) -> Claim:
    """A claim about any round k >= ``later`` of the runs of a bound, in which parameters that vary are letters that are
    what their schedules say."""
    setting, varying = claim.setting, claim.statement.algorithm.schedules
    method = replace(claim.statement.algorithm, schedules={})
    signs = signs_of(claim)
    if why := next((name for name, schedule in varying.items() if not signs.nonnegative(schedule)), ""):
        raise NotFollowed(f"the schedule of {why} may be negative")
    letters = {sympy.Symbol(name, nonnegative=True): name for name in varying}
    added = tuple(
        Hypothesis(f"{letter} = {varying[name]}", sympy.Eq(letter, varying[name])) for letter, name in letters.items()
    )
    if later:
        added += (Hypothesis(f"{round_index} >= {later}", sympy.Ge(round_index, later, evaluate=False)),)
    if isinstance(statement, OneStep):
        statement = replace(statement, algorithm=method)
    every = {**setting.sources, **letters, round_index: ROUND}
    return replace(
        claim,
        setting=replace(setting, algorithm=method, letters=every, potential=None),
        statement=statement,
        requires=(*claim.requires, *added),
        follows=(),
    )


def of_one_round(
    claim: Claim,
    left: Coefficients,
    right: Coefficients,
    noise: sympy.Expr,
    least: LeastValue | None,
    weight: sympy.Expr,
) -> tuple[Claim, str, Lowest | None]:
    """The claim about one round, for every k, and what it says; ``weight``: that of the least value in it."""
    named, quantities = _named(claim, (*left, *right, *(() if least is None else (least.of,)))), []
    sides = [sympy.S.Zero, noise]
    for index, (of, after) in enumerate(((left, True), (right, False))):
        for q, c in of.items():
            if c != 0:
                quantities.append(Quantity(f"{named[q]}_next" if after else named[q], q, after=after))
                sides[index] += c * quantities[-1].expression
    if not any(q.after for q in quantities):
        raise NotFollowed("nothing is left of the potential after a round")
    lowest, words = None, f"E[{sides[0]}] <= {sides[1]}"
    if least is not None:
        name = named[least.of]
        bounds = [Quantity(f"{name}_next" if after else name, least.of, after=after) for after in (False, True)]
        bounds = bounds if least.to_end else bounds[:1]
        quantities += [q for q in bounds if q not in quantities]
        lowest = Lowest(tuple(q.expression for q in bounds), weight)
        words = f"E[{sides[0]}] + ({weight}) m <= {sides[1]}, where m is the least E[{name}]"
    statement = OneStep(claim.statement.algorithm, sides[0], sides[1], tuple(quantities))
    # Multipliers of the claim from which the bound is to follow are tried first.
    step = in_one_round(claim, statement)
    return replace(step, id=next(iter(claim.follows), claim.id)), words, lowest


def below_potential(claim: Claim, ends: Coefficients, added: Coefficients, varying: bool) -> Claim:
    """Return the claim that the bounded quantity is at most the potential, in all states; after any number of rounds if
    weights may vary."""
    zero = sympy.S.Zero
    left = {q: plain(c - added.get(q, zero)) for q, c in ends.items()}
    right = {q: c for q, c in added.items() if q not in ends}
    named, sides, quantities = _named(claim, (*left, *right)), [zero, zero], []
    for index, of in enumerate((left, right)):
        for q, c in of.items():
            if c != 0:
                quantities.append(Quantity(named[q], q))
                sides[index] += c * quantities[-1].expression
    if sides[0] == 0:
        raise NotFollowed("what is bounded is all part of the potential")
    if not any(side.has(T) for side in sides):
        return in_any_state(claim, Inequality(sides[0], sides[1], tuple(quantities)))
    if not varying or any(side.has(sympy.Sum, sympy.Product) or grows(side) for side in sides):
        raise NotFollowed("what is bounded is compared with a potential whose weights vary")
    small, large = (side.subs(T, round_index) for side in sides)
    return in_one_round(claim, Inequality(small, large, tuple(quantities)), later=claim.statement.since)


def held_from_start(
    claim: Claim, form: Printed, potential: Coefficients, rho: sympy.Expr, at: Sequences
) -> tuple[Claim, sympy.Expr]:
    """Return the claim that a bound holds in all states, in which parts hold where runs began, and what may be assumed
    of them: that the potential is at most what it was at the start and what the rounds added. T is the round k."""
    if plain(rho - 1) != 0 or form.more or form.constants:
        raise NotFollowed("what the potential was at the start is compared where it does not grow, with numbers alone")
    places = starts.held(claim)
    if places is None:
        raise NotFollowed("no part of the state holds where runs begin")
    begun = {q: Exchanged(q, places) for q in dict.fromkeys((*form.starts, *potential))}
    named = _named(claim, (*form.ends, *potential, *begun.values()))
    quantities = {q: Quantity(name, q) for q, name in named.items()}

    def total(of: Coefficients, places: Mapping[Of, Of] | None = None) -> sympy.Expr:
        return sympy.Add(*(c * quantities[q if places is None else places[q]].expression for q, c in of.items()))

    left, right = total(form.ends), total(form.starts, begun) + form.noise
    # The rounds add to the potential what they add on the right side.
    added = form.noise - at.start(form.noise)
    premise = total(potential) - total({q: at.start(c) for q, c in potential.items()}, begun) - added
    if any(e.has(sympy.Sum, sympy.Product) for e in (left, right, premise)):
        raise NotFollowed("sums over the rounds are not compared in states")
    left, right, premise = (e.subs(T, round_index) for e in (left, right, premise))
    return in_one_round(
        claim, Inequality(left, right, tuple(quantities.values())), later=claim.statement.since
    ), premise


def at_start(claim: Claim, excess: Coefficients) -> Claim:
    """Return the claim that a sum of multiples of quantities is at most 0 where runs begin."""
    method = replace(claim.statement.algorithm, schedules={})
    if any(c.has(T) for c in excess.values()):
        raise NotFollowed("the start is compared for all T only as its code is read")
    named, quantities, free = _named(claim, excess), [], claim.setting.drawing.start
    for q in excess:
        quantities.append(Quantity(named[q], AtStart(q, method, free)))
    left = sympy.Add(*(c * q.expression for c, q in zip(excess.values(), quantities, strict=True)))
    lemma = in_any_state(claim, Inequality(left, sympy.S.Zero, tuple(quantities)))
    # Any vectors may be where runs begin, unless some are given, such that the invariant holds.
    kept = method if free else replace(method, invariant=None)
    return replace(lemma, setting=replace(lemma.setting, algorithm=kept))


def _named(claim: Claim, of: Iterable[Of]) -> dict[Of, str]:
    """Names of quantities, no two the same and none a letter."""
    known, taken = printed_rounds.names(claim), {str(x) for x in claim.setting.sources}
    found: dict[Of, str] = {}
    for q in dict.fromkeys(of):
        name = known.get(q) or str(getattr(q, "__name__", "V"))
        while {name, f"{name}_next"} & taken:
            name += "'"
        found[q] = name
        taken |= {name, f"{name}_next"}
    return found


def grows(e: sympy.Expr) -> bool:
    """Return True if an expression contains powers whose exponents grow with the rounds."""
    return any(p.exp.has(round_index, T) for p in e.atoms(sympy.Pow))
