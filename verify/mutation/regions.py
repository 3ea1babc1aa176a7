"""Mutants that are wrong in a region only, drawn at random so that nobody can prepare for them.

A method does as it should, except where it has many clients or dimensions, where a letter is small or large, for one
type of number, far from the optimum or on one side of it, or after some calls; or it rounds a letter. So does a
quantity. A hypothesis asks for a little less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import generic, pick
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import OfRun
from verify.mutation.bank import Mutant

#: Returns True if a problem with its parameters has states in the region.
Inside = Callable[[Any, Any], bool]
#: The factors by which a step is too long or too short, or a quantity too large or too small.
_FACTORS = tuple(Fraction(v) for v in (0, "1/2", 2, 10, -1, "1001/1000"))


def drawn(holding: tuple[Claim, ...], seed: int) -> Iterator[Mutant]:
    """Mutants of claims that hold, without end; each is false unless its region makes no difference."""
    rng = np.random.default_rng([seed, 11])
    about = [c for c in holding if c.statement.bounding or c.statement.residual is not None]
    for number in count(1):
        claim = pick(rng, about)
        sort = pick(rng, ("step", "step", "step", "rounded", "quantity", "hypothesis", "memory"))
        made = SORTS[sort](claim, rng)
        if made is not None:
            text, variant, inside = made
            yield Mutant(f"region {seed}#{number}", sort, claim.id, text, (variant,), (claim,), inside)


class Region(NamedTuple):
    """The region in which a change acts.

    ``holds(problem, params, state)``; ``inside(problem, params)``: whether that is so of some states there.
    """

    text: str
    holds: Callable[[Any, Any, Any], bool]
    inside: Inside


#: The change in words, the claim about it, and the region in which the change acts.
Made = tuple[str, Claim, Inside] | None


def _everywhere(problem: Any, params: Any) -> bool:
    return True


def _somewhere(claim: Claim, name: str, rng: np.random.Generator) -> Fraction:
    """About the value of a parameter on some instance, so that there are instances on both sides; else any number."""
    anything = generic(rng, Fraction(1, 1000), Fraction(1000))
    try:
        params = claim.instances.build(next(claim.instances.recipes(rng)), True).params
    except ValueError:
        return anything
    value = np.max(np.asarray(getattr(params, name), dtype=object))
    known = isinstance(value, int | float | Fraction) and 0 < value < 10**9
    return Fraction(value) * generic(rng, Fraction(9, 10), Fraction(11, 10)) if known else anything


def region(claim: Claim, rng: np.random.Generator) -> Region:
    """A region, at random."""
    sort = pick(rng, ("n", "d", "letter", "letter", "type", "far", "side"))
    if sort in ("n", "d"):
        least = int(rng.integers(2, 13 if sort == "n" else 9))

        def many(problem: Any, params: Any, state: Any = None) -> bool:
            return bool(getattr(problem, sort, 1) >= least)

        return Region(f"{sort} >= {least}", many, many)
    fields = getattr(claim.statement.algorithm, "Params", None)
    names = [name for name in getattr(fields, "_fields", ()) if name not in ("compressors", "compressor", "oracle")]
    if sort == "letter" and names:
        name, above = pick(rng, names), pick(rng, (True, False))
        bound = _somewhere(claim, name, rng)

        def beyond(problem: Any, params: Any, state: Any = None) -> bool:
            value = np.max(np.asarray(getattr(params, name), dtype=object))
            return isinstance(value, int | float | Fraction) and (value > bound) == above

        return Region(f"{name} {'>' if above else '<='} {bound}", beyond, beyond)
    if sort == "type":
        kind = pick(rng, (np.dtype(np.float64), np.dtype(object)))

        def typed(problem: Any, params: Any, state: Any) -> bool:
            return bool(np.asarray(state[0]).dtype == kind)

        return Region(f"numbers of type {kind}", typed, _everywhere)
    size = Fraction(10) ** int(rng.integers(3, 8)) if sort == "far" else Fraction(0)

    def away(problem: Any, params: Any, state: Any) -> bool:
        first = np.asarray(state[0]).ravel()
        return all(isinstance(v, int | float | Fraction) for v in first.tolist()) and bool(first.max() > size)

    return Region(f"an entry above {size}", away, _everywhere)


def _step(claim: Claim, rng: np.random.Generator) -> Made:
    algorithm = claim.statement.algorithm
    if algorithm is None:
        return None
    where = region(claim, rng)
    name, factor = pick(rng, algorithm.State._fields), pick(rng, _FACTORS)

    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        new = algorithm.step(problem, params, state, draw)
        if not where.holds(problem, params, state):
            return new
        old = getattr(state, name)
        exact = factor if np.asarray(old).dtype == object else float(factor)
        return new._replace(**{name: old + exact * (getattr(new, name) - old)})

    text = f"the step of {name} times {factor} for {where.text}"
    return text, claim.variant(algorithm=replace(algorithm, step=step)), where.inside


def _rounded(claim: Claim, rng: np.random.Generator) -> Made:
    algorithm = claim.statement.algorithm
    names = [] if algorithm is None else [n for n in algorithm.Params._fields if n in ("p", "gamma", "rho", "chi", "a")]
    if not names:
        return None
    name, places = pick(rng, names), int(rng.integers(0, 4))

    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        value = getattr(params, name)
        rounded = type(value)(round(value, places)) or value
        return algorithm.step(problem, params._replace(**{name: rounded}), state, draw)

    def differs(problem: Any, params: Any) -> bool:
        value = getattr(params, name)
        return bool(round(value, places) not in (0, value))

    return f"{name} rounded to {places} places", claim.variant(algorithm=replace(algorithm, step=step)), differs


def _memory(claim: Claim, rng: np.random.Generator) -> Made:
    algorithm = claim.statement.algorithm
    if algorithm is None:
        return None
    calls, after, name = count(), int(rng.integers(2, 200)), pick(rng, algorithm.State._fields)

    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        new = algorithm.step(problem, params, state, draw)
        return new if next(calls) < after else new._replace(**{name: getattr(state, name)})

    return f"{name} stays after {after} calls", claim.variant(algorithm=replace(algorithm, step=step)), _everywhere


def _quantity(claim: Claim, rng: np.random.Generator) -> Made:
    quantities = [q for q in claim.statement.quantities if not isinstance(q.of, OfRun)]
    if not quantities:
        return None
    where = region(claim, rng)
    one, factor = pick(rng, quantities), pick(rng, _FACTORS)

    def of(problem: Any, params: Any, state: Any) -> Any:
        value = one.of(problem, params, state)
        if not where.holds(problem, params, state):
            return value
        return value * (factor if np.asarray(value).dtype == object else float(factor))

    changed = tuple(replace(q, of=of) if q is one else q for q in claim.statement.quantities)
    return f"{one.expression} times {factor} for {where.text}", claim.variant(quantities=changed), where.inside


def _hypothesis(claim: Claim, rng: np.random.Generator) -> Made:
    """A bound between letters a little further away."""
    places = [i for i, h in enumerate(claim.requires) if isinstance(h.relation, sympy.Le | sympy.Lt) and h.met is None]
    if not places:
        return None
    index = pick(rng, places)
    relation = claim.requires[index].relation
    assert isinstance(relation, sympy.Rel)
    beyond = 1 + generic(rng, Fraction(1, 10**4), Fraction(1))
    weaker = relation.func(relation.lhs, relation.rhs * sympy.Rational(*beyond.as_integer_ratio()), evaluate=False)
    hypothesis = Hypothesis(f"{claim.requires[index].text}, times {beyond}", weaker)
    requires = (*claim.requires[:index], hypothesis, *claim.requires[index + 1 :])
    return f"{relation} weakened by {beyond}", claim.variant(requires=requires), _everywhere


SORTS: dict[str, Callable[[Claim, np.random.Generator], Made]] = {
    "step": _step,
    "rounded": _rounded,
    "memory": _memory,
    "quantity": _quantity,
    "hypothesis": _hypothesis,
}
