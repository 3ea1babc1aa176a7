"""Squares that may be parts of a potential: of differences of parts of the state and vectors in a claim, and of sums of
these over the clients.

They are looked for among those that vanish where runs begin, so that a potential may have any multiples of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fedtheory.claims import Claim
from fedtheory.settings.relations import of_one_state
from verify.multipliers.cases import FunctionCase, example
from verify.reading import program, terms
from verify.reading.generic_client import evaluated, world_of
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term, parts

#: Squares that are tried at most.
MOST = 6


def vanishing_squares(claim: Claim, case: FunctionCase) -> tuple[Term, ...]:
    """Squares of differences of a part of the state and another vector, which are zero where runs begin.

    Vectors are parts of the state, and those that the claim's quantities are made of.
    """
    given, free = example(claim, case), claim.setting.drawing.start
    method = replace(claim.statement.algorithm, schedules={})
    read = program.read(method, given.problem, given.params)
    quantities = of_one_state(claim.statement.quantities)
    of = [t for q in quantities for t in program.quantities(q.of, method, given.problem, given.params)]
    begun = program.state_at_start(method, given.problem, given.params, free)
    known = [terms.leaf(Op.PART, name, kind) for name, kind in read.parts.items()]
    found = list(_squares(known, [t for t in parts(*of) if _is_vector(t)]))
    world = world_of(*found, *begun.values())
    world.known.update(zip(begun, evaluated(world, begun.values()), strict=True))
    return tuple(t for t, value in zip(found, evaluated(world, found), strict=True) if value.is_zero())[:MOST]


def _is_vector(term: Term) -> bool:
    """Return True if a term is a vector, or one for each client, as parts of a state are."""
    shapes = (terms.POINT.axes, terms.CLIENTS.axes)
    return term.type.degree == 1 and term.type.axes in shapes and not term.type.mask


def _squares(known: Sequence[Term], others: Sequence[Term]) -> Iterator[Term]:
    """Yield the squares, those of sums over the clients last."""
    sums = []
    others = [t for t in others if t.op is not Op.PART]
    for k, part in enumerate(known):
        for other in (*known[k + 1 :], *others):
            if other.type.axes != part.type.axes:
                continue
            try:
                difference = terms.add(part, terms.negative(other))
                square = terms.total(terms.power(difference, 2), -1, False)
                if Axis.CLIENTS in square.type.axes:
                    square = terms.total(square, -1, False)
                    sums.append(terms.total(terms.power(terms.total(difference, -2, False), 2), -1, False))
            except ValueError as error:
                raise Unread(str(error)) from error
            yield square
    yield from sums


def square_words(square: Term) -> str:
    """Such a square for people to read."""
    base = next(t for t in parts(square) if t.op is Op.POWER and t.data == 2).of[0]
    summed = base.op is Op.SUM
    difference = base.of[0] if summed else base
    part, other = difference.of[0], difference.of[1].of[1]
    words = f"{_vector_words(part)} - {_vector_words(other)}"
    if summed:
        return f"|sum_i ({words})|^2"
    return f"{'sum_i ' if Axis.CLIENTS in part.type.axes else ''}|{words}|^2"


def _vector_words(vector: Term) -> str:
    if vector.op is Op.PART:
        return str(vector.data)
    asked = [t for t in parts(vector) if t.op is Op.ORACLE]
    if len(asked) == 1 and asked[0].data == "f.gradient":
        at = next((str(t.data) for t in parts(asked[0]) if t.op is Op.PART), "x*")
        return f"grad f_i({at})" if vector is asked[0] else f"grad f({at})"
    return "x*" if vector.op is Op.GIVEN and vector.data == "x_star" else "a vector of the claim's quantities"
