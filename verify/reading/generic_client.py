"""A program for every number of clients: the values of its terms in a world where n is a letter, and its state after
the step.

Expectations over random subsets of the clients are taken by their first two moments. A client is in a uniform subset of
tau with probability tau/n, two different ones with tau (tau - 1)/(n (n - 1)). A subset by weights has tau clients too,
and a probability proportional to the sum of their weights, so that its expectation of F is that of F times this sum
over uniform ones, up to a factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import sympy

from verify.reading.arrays import EXAMPLES
from verify.reading.program import StepProgram
from verify.reading.source import Unread
from verify.reading.terms import COMPRESSION, Axis, Op, Term, beyond_moments, parts, undrawn
from verify.reading.worlds import (
    MADE,
    ONE,
    SPARE,
    SUMS,
    Atom,
    Monomial,
    World,
    WorldValue,
    at_client,
    inverse,
    symbol_of,
)


def world(program: StepProgram, *more: Term) -> World:
    """Return the world of a program, and of more terms in its symbols."""
    made = world_of(*program.step.values(), *program.law.terms(), *more)
    for name, law in _subsets(program.law, "draw"):
        made.totals[name] = evaluated(made, [law.of[1]])[0]
    return made


def world_of(*terms: Term) -> World:
    """Return the world with the letters of all terms, in which no draw has a known value."""
    symbols = {sympy.Symbol("n"), sympy.Symbol("d"), *(sympy.Symbol(f"{SPARE}{k}") for k in range(SUMS))}
    indexed: set[str] = set()
    whose: set[str] = set()
    along: set[str] = set()
    for term in parts(*terms):
        if term.op in (Op.LETTER, Op.GIVEN) and term.type.degree == 0:
            symbols.add(symbol_of(term))
        if term.op in (Op.LETTER, Op.GIVEN, Op.DRAW) and Axis.CLIENTS in term.type.axes and term.type.degree == 0:
            indexed.add(str(term.data) if term.op is Op.DRAW else str(symbol_of(term)))
        if term.op in MADE:
            symbols.add(symbol_of(term))
        if term.op is Op.DRAW and Axis.COORDINATES in term.type.axes:
            along.add(str(term.data))
        if term.op is Op.ALL:
            indexed.add(term.data[1])
        if term.op is Op.CLIENT:
            whose.add(str(term.data))
    if any(Axis.EXAMPLES in term.type.axes for term in parts(*terms)):
        held = f"{Op.GIVEN} f.sizes"
        symbols |= {sympy.Symbol(held), sympy.Symbol(f"{Op.GIVEN} {EXAMPLES}")}
        indexed.add(held)
    symbols |= {sympy.Symbol(at_client(name, i)) for name in indexed for i in whose}
    return World(
        sympy.QQ.frac_field(*sorted(symbols, key=str)), frozenset(indexed), along=frozenset(along), **_examples(terms)
    )


def _examples(terms: Sequence[Term]) -> dict[str, Any]:
    """Return the symbols of numbers of examples, if any term involves examples."""
    if not any(Axis.EXAMPLES in term.type.axes for term in parts(*terms)):
        return {}
    return {"held": sympy.Symbol(f"{Op.GIVEN} f.sizes"), "examples": sympy.Symbol(f"{Op.GIVEN} {EXAMPLES}")}


def _subsets(law: Any, name: str) -> Iterable[tuple[str, Any]]:
    """Yield the subsets of clients that are drawn, once, or one for each coordinate, by the names of their masks."""
    if law.name == "product":
        for part, of in zip(law.make._fields, law.of, strict=True):
            yield from _subsets(of, f"{name}.{part}")
    elif law.name in ("subset", "weighted subset", "pattern"):
        yield name, law


def evaluated(world: World, of: Iterable[Term]) -> list[WorldValue]:
    """Return the values of terms. Raise ``Unread`` for a term without a value in which n is a letter."""
    wanted = list(of)
    found: dict[int, WorldValue] = {}
    for term in parts(*wanted):
        if term.op is Op.EXPECTED:
            world.fixed_in_expectation = frozenset(
                atom.name for part in undrawn(term) for _, atoms in found[id(part)].of for atom in atoms
            )
        found[id(term)] = _value(world, term, [found[id(part)] for part in term.of])
    return [found[id(term)] for term in wanted]


def _value(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    if term.op is Op.EXPECTED and (made := beyond_moments(term)) is not None:
        # Under a name of its own it would seem to be the same for all draws.
        raise Unread(f"the expectation is taken of the result of {made.op} at something drawn")
    rule = world.rules.get(term.op) or _RULES.get(term.op)
    if rule is None:
        raise Unread(f"with n a letter, nothing says what {term.op} is")
    return rule(world, term, of)


def _part(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    if term.data in world.known:
        return world.known[term.data]
    return _named(world, term, term.data)


def _named(world: World, term: Term, name: str) -> WorldValue:
    if Axis.EXAMPLES in term.type.axes:
        return world.of_example(name, term.type.degree)
    known = world.of_client if Axis.CLIENTS in term.type.axes else world.atom
    return known(name, term.type.degree)


def _given(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    number = term.type.degree == 0 and Axis.EXAMPLES not in term.type.axes
    return world.letter(term) if number else _named(world, term, f"the given {term.data}")


def all_drawn(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    """Return the masks of all subsets of clients that a distribution draws."""
    kind, name = term.data
    if kind == COMPRESSION:
        raise Unread("the outcomes of compressors over all draws are not known")
    world.totals[name] = of[1]
    if kind == "weighted subset":
        world.weights[name] = of[0]
    return world.drawn(name)


def in_expectation(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    """Return the expectation of a value over all subsets of clients that a distribution draws."""
    return expected(world, of[0], term.of[1].data[1])


def _drawn(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    return world.drawn(term.data if isinstance(term.data, str) else term.data[0])


def _asked(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    """Return the answer of an oracle, as a function of its arguments. A gradient is known at the slope of a conjugate,
    or at the root of a resolvent, if that is unique.
    """
    function, _, oracle = term.data.rpartition(".")
    known = oracle == "gradient" and function in world.smooth
    before, asked = world.answers.get(of[-1].name(), ("", [])) if known else ("", [])
    if before == f"{function}.conjugate_gradient":
        return asked[0]
    if before == f"{function}.resolvent":
        shift, target = asked
        return target - shift * of[-1]
    found = _answer(world, term, of)
    world.answers[found.name()] = term.data, of
    return found


def _answer(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    return _named(world, term, f"{term.data}({'; '.join(value.name() for value in of)})")


def _quotient(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    return of[0] * inverse(world, of[1])


def _power(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    base, found = of[0] if term.data >= 0 else inverse(world, of[0]), world.constant(1)
    for _ in range(abs(term.data)):
        found *= base
    return found


def _chosen(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    mask, one, other = of
    return mask * (one - other) + other


def _summed(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    along = term.data[0]
    if along is Axis.EXAMPLES:
        return world.total(world.within(of[0]))
    return world.total(of[0]) if along is Axis.CLIENTS else world.inner(of[0]) if along is Axis.COORDINATES else of[0]


def _extreme(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    if any(part.op not in _FIXED for part in parts(term)):
        raise Unread(f"the {term.op} of numbers that depend on the state, or on what is drawn, is not known")
    return world.letter(term)


def _of_block(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    raise Unread("a block of coordinates is taken, where all of them are alike")


#: Operations without the state or a draw: the result may be one letter, by the way it is written.
_FIXED = frozenset(
    {Op.CONSTANT, Op.LETTER, Op.COUNT, Op.GIVEN, Op.ADD, Op.MULTIPLY, Op.DIVIDE, Op.POWER, Op.VIEW, Op.SUM}
    | {Op.ROOT, Op.LEAST, Op.MOST}
)
_RULES: Mapping[Op, Callable[[World, Term, list[WorldValue]], WorldValue]] = {
    Op.CONSTANT: lambda world, term, of: world.constant(term.data),
    Op.LETTER: lambda world, term, of: world.letter(term),
    Op.COUNT: lambda world, term, of: world.count(term.data),
    Op.GIVEN: _given,
    Op.PART: _part,
    Op.ANY: lambda world, term, of: _named(world, term, f"anything ({term.data})"),
    Op.DRAW: _drawn,
    Op.ORACLE: _asked,
    Op.COMPRESSED: _asked,
    Op.ADD: lambda world, term, of: of[0] + of[1],
    Op.MULTIPLY: lambda world, term, of: of[0] * of[1],
    Op.DIVIDE: _quotient,
    Op.POWER: _power,
    Op.CHOOSE: _chosen,
    Op.NOT: lambda world, term, of: world.constant(1) - of[0],
    Op.AND: lambda world, term, of: of[0] * of[1],
    Op.OR: lambda world, term, of: of[0] + of[1] - of[0] * of[1],
    Op.SUM: _summed,
    Op.VIEW: lambda world, term, of: of[0],
    Op.ALL: all_drawn,
    Op.WITHIN: lambda world, term, of: world.within(of[0]),
    Op.HELD: lambda world, term, of: of[0],
    Op.EXPECTED: in_expectation,
    Op.LEAST: _extreme,
    Op.MOST: _extreme,
    Op.CLIENT: lambda world, term, of: world.of_one(of[0], term.data),
    Op.BLOCK: _of_block,
}


# Invariants of a step


def leaves_zero(here: World, program: StepProgram, residuals: Sequence[Term]) -> bool:
    """Return True if residuals that are all zero stay zero in a step, for all n, d, letters and draws, in a program's
    world.

    ``residuals``: terms in the parts of the state, ``(..., d)``, linear in them. False means only that it could not be
    shown. Raise ``Unread`` if it cannot be decided.
    """
    _where_zero(here, program, residuals)
    here.known.update(_stepped(here, program))
    return all(value.is_zero() for value in evaluated(here, residuals))


def changed(
    here: World, program: StepProgram, residuals: Sequence[Term], observed: Sequence[Term]
) -> Iterator[tuple[WorldValue, WorldValue]]:
    """Yield each observed value after a step, and before it, given that all residuals are zero. Raise ``Unread`` as
    :func:`leaves_zero` does.
    """
    _where_zero(here, program, residuals)
    before = evaluated(here, observed)
    here.known.update(_stepped(here, program))
    yield from zip(evaluated(here, observed), before, strict=True)


def _where_zero(here: World, program: StepProgram, residuals: Sequence[Term]) -> None:
    """Write parts of the state by the others, as they are where residuals are zero."""
    for residual in residuals:
        here.known.update(_solved(here, evaluated(here, [residual])[0], program))
    if not all(value.is_zero() for value in evaluated(here, residuals)):
        raise Unread("the residuals do not determine all parts of the state")


def _stepped(here: World, program: StepProgram) -> dict[str, WorldValue]:
    return dict(zip(program.step, evaluated(here, program.step.values()), strict=True))


def know_optimum(here: World) -> None:
    """Add the optimality conditions of differentiable f_i: at x*, the gradients are the y*_i, whose sum is zero."""
    x_star, y_star = here.atom("the given x_star", 1).name(), here.deviation("the given y_star", 1)

    def asked(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        return y_star if term.data == "f.gradient" and of[-1].name() == x_star else _asked(world, term, of)

    def given(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        return y_star if term.data == "y_star" else _given(world, term, of)

    here.rules.update({Op.ORACLE: asked, Op.GIVEN: given})


def multiplied(here: World, program: StepProgram, residuals: Sequence[Term]) -> Iterator[tuple[WorldValue, WorldValue]]:
    """Yield each residual after a step, and its value before times a number. Raise ``Unread`` if there is no such
    number.
    """
    before = evaluated(here, residuals)
    here.known.update(_stepped(here, program))
    for one, other in zip(before, evaluated(here, residuals), strict=True):
        first = next(iter(one.of), ONE)
        times = WorldValue({ONE: other.of[first] / one.of[first]} if first in one.of and first in other.of else {})
        if not (other - one * times).is_zero():
            raise Unread("a residual is not a multiple of its value before the step")
        yield other, one * times


def _solved(here: World, residual: WorldValue, program: StepProgram) -> dict[str, WorldValue]:
    """Return a part of the state in terms of the others, where the residual is zero."""
    for name, kind in program.parts.items():
        per_client = Axis.CLIENTS in kind.axes
        own: Monomial = (frozenset(), (Atom(f"mean of {name}" if per_client else name, kind.degree),))
        c = residual.of.get(own)
        if c is not None and _is_never_zero(c):
            rest = WorldValue({monomial: b for monomial, b in residual.of.items() if monomial != own})
            solved = rest * WorldValue({ONE: -1 / c})
            return {name: solved + here.deviation(name, kind.degree) if per_client else solved}
    raise Unread("the residual is linear in no part of the state")


def _is_never_zero(c: Any) -> bool:
    """Return True if a coefficient is nonzero for all letters; n and d are nonzero."""
    powers = [dict(zip(map(str, c.numer.ring.symbols), monomial, strict=True)) for monomial in c.numer]
    return len(powers) == 1 and not any(power for name, power in powers[0].items() if name not in ("n", "d"))


#: Sums over drawn clients, and draws of a client, that are multiplied with each other, at most.
_MOMENTS = 2


class Pair(NamedTuple):
    """The terms of two sums over drawn clients whose inner product is taken."""

    one: WorldValue
    other: WorldValue


def expected(world: World, value: WorldValue, draw: str) -> WorldValue:
    """Return the expectation of a value over the subsets of clients in ``draw``."""
    tau, n = world.totals[draw], world.count("n")
    weights = world.weights.get(draw)
    factor = WorldValue({ONE: world.field.one})
    if weights is not None:
        value = value * world.total(world.drawn(draw) * weights)
        factor = n * inverse(world, tau * world.total(weights))
    found = WorldValue({})
    for monomial, c in value.of.items():
        for rest, sums, own in _factors(world, monomial, c, draw):
            found += rest * _moment(world, sums, own, tau, n)
    return found * factor


def _factors(
    world: World, monomial: Monomial, c: Any, draw: str
) -> Iterator[tuple[WorldValue, list[WorldValue | Pair], bool]]:
    """Yield the part without the draws, the terms of sums over drawn clients, and True if a client must be drawn."""
    draws, atoms = monomial
    kept, sums = [], []
    for atom in atoms:
        terms = _terms(world, atom, draw)
        if terms is None:
            kept.append(atom)
        else:
            sums.append(terms)
    left = draws - {draw}, tuple(kept)
    if any(world.holds_drawn(world.meaning[name][1]) for name in world.sums_in(c)):
        raise Unread("an expectation is taken of a sum in whose terms a drawn sum stands")
    symbols = {str(symbol): name for name, symbol in world.sums.items() if draw in world.meaning[name][2]}
    places = [k for k, symbol in enumerate(world.field.symbols) if str(symbol) in symbols]
    if any(power[k] for power in c.denom for k in places):
        raise Unread("an expectation is taken of a quotient by what depends on the draws")
    for powers, number in c.numer.terms():
        rest, more = world.field(number), []
        for k, (generator, power) in enumerate(zip(world.field.gens, powers, strict=True)):
            if k in places:
                of = _of_sum(world, symbols[str(world.field.symbols[k])], draw)
                more += [of] * power
            else:
                rest *= generator**power
        yield WorldValue({left: rest / world.field(c.denom)}), [*sums, *more], draw in draws


def _terms(world: World, atom: Atom, draw: str) -> WorldValue | Pair | None:
    """Return the terms, of a generic client, of a sum over drawn clients or of its inner product; None for anything
    fixed. Raise ``Unread`` for anything else.
    """
    kind, *of = world.meaning.get(atom.name, ("",))
    if kind == "sum" and draw in of[1] and all(world.is_fixed(own) for own in of[2]):
        return _of_sum(world, atom.name, draw)
    if world.is_fixed(atom):
        return None
    if kind != "inner product":
        raise Unread(f"what {atom.name} is in expectation is not known")
    one, other = (_terms(world, vector, draw) for vector in of)
    if isinstance(one, Pair) or isinstance(other, Pair):
        raise Unread("an inner product is one of vectors")
    if one is not None and other is not None:
        return Pair(one, other)
    single = [WorldValue({(frozenset(), (vector,)): world.field.one}) for vector in of]
    return world.inner((one or single[0]) * (other or single[1]))


def _of_sum(world: World, name: str, draw: str) -> WorldValue:
    _, letters, draws, own = world.meaning[name]
    if world.holds_drawn(letters):
        raise Unread("an expectation is taken of a sum in whose terms a drawn sum stands")
    return WorldValue({(draws - {draw}, tuple(own)): letters})


def _moment(world: World, sums: list[WorldValue | Pair], own: bool, tau: WorldValue, n: WorldValue) -> WorldValue:
    """Return the expectation of a product of sums over drawn clients, times the indicator of a generic client's being
    drawn if required.
    """
    if own + sum(2 if isinstance(terms, Pair) else 1 for terms in sums) > _MOMENTS:
        raise Unread(f"more than {_MOMENTS} draws of clients are multiplied in an expectation")
    one = WorldValue({ONE: world.field.one})
    if not own and not sums:
        return one
    single = tau * inverse(world, n)
    if own and not sums:
        return single
    if not own and len(sums) == 1 and isinstance(sums[0], WorldValue):
        return single * world.total(sums[0])
    pair = single * (tau - one) * inverse(world, n - one)
    first = sums[0]
    if isinstance(first, Pair):
        both = world.total(world.inner(first.one * first.other))
        return single * both + pair * (world.inner(world.total(first.one) * world.total(first.other)) - both)
    if own:
        return single * first + pair * (world.total(first) - first)
    assert isinstance(sums[1], WorldValue)
    both = world.total(first * sums[1])
    return single * both + pair * (world.total(first) * world.total(sums[1]) - both)
