"""The results of code, as data: terms over whole axes, in which n, d and all letters are indeterminates.

A term has a type: its axes, whether replicas may come before them, and its degree in the coordinates. The constructors
below are the only makers of terms. Each refuses, with a ``ValueError`` in one sentence, anything without a type: so
clients are never taken for coordinates or replicas, a vector is never added to a number, nor are its entries summed,
and no term can name one client or one coordinate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar


class Axis(StrEnum):
    """The range of an axis; ``ONE`` has length 1, and is broadcast; ``DRAWS`` are all draws of a distribution."""

    CLIENTS = "clients"
    COORDINATES = "coordinates"
    EXAMPLES = "examples"
    DRAWS = "draws"
    ONE = "one"


class Op(StrEnum):
    """The operation of a term. Leaves and calls have a ``name``; ``SUM`` has an axis, ``VIEW`` only its type."""

    CONSTANT = "constant"
    LETTER = "letter"
    COUNT = "count"
    GIVEN = "given"
    PART = "part"
    DRAW = "draw"
    DIRECTION = "direction"
    ANY = "anything"
    ORACLE = "oracle"
    COMPRESSED = "compressed"
    ANSWER = "answer of an adversary"
    MIXED = "mixed by a matrix"
    UNMIXED = "solved for a mixing matrix"
    ADD = "+"
    MULTIPLY = "*"
    DIVIDE = "/"
    POWER = "**"
    ROOT = "square root"
    CHOOSE = "where"
    NOT = "not"
    AND = "and"
    OR = "or"
    SUM = "sum"
    VIEW = "view"
    CLIENT = "of a client"
    LEAST = "least"
    MOST = "most"
    WITHIN = "sum in each client"
    HELD = "of each example"
    ALL = "all draws"
    EXPECTED = "expectation"
    BLOCK = "of a block"
    LISTED = "list"
    SIZE = "square root of a number of the state"
    LARGER = "the larger of two"
    SIGNS = "the signs of coordinates"


#: Operations that depend on draws.
DRAWN = (Op.DRAW, Op.DIRECTION, Op.ALL, Op.COMPRESSED)
#: The degree of zero, which counts as any.
ANY_DEGREE = -1


@dataclass(frozen=True)
class Type:
    """The type of a term.

    ``axes``: the last axes of an array; ``batched``: True if replicas may come before them; ``degree``: of its entries
    in coordinates: 0 for numbers, 1 for vectors, 2 for products of two vectors; ``mask``: True if it is a truth value,
    drawn or a parameter.
    """

    axes: tuple[Axis, ...] = ()
    batched: bool = False
    degree: int = 0
    mask: bool = False

    def __str__(self) -> str:
        of = (
            "a mask"
            if self.mask
            else {0: "a number", 1: "a vector", 2: "a product of vectors"}.get(self.degree, "zero")
        )
        axes = " of " + " and ".join(self.axes) if self.axes else ""
        return f"{of}{axes}"


POINT = Type((Axis.COORDINATES,), True, 1)
CLIENTS = Type((Axis.CLIENTS, Axis.COORDINATES), True, 1)
NUMBER = Type()


@dataclass(frozen=True)
class Term:
    """An operation, its operands, and its type; ``data``: a name, a number, an exponent, or an axis with True if it is
    kept at length 1. Made by the functions of this module alone. Terms share their parts: walk them by :func:`parts`.
    """

    op: Op
    of: tuple[Term, ...]
    type: Type
    data: Any = None
    #: True if a letter is a whole number.
    whole: bool = False
    #: For whole numbers: bits that suffice, and True if they stand in arrays, which have 64.
    width: tuple[int, bool] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        width = _width(self)
        if width is not None and width[1] and width[0] >= 64:
            raise ValueError("an array of integers may exceed 2^63 and wrap around")
        object.__setattr__(self, "width", width)

    # Terms that share their parts are trees of any size when they are compared or hashed as such.
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<{self.op} of {len(list(parts(self)))} terms: {self.type}>"


def _width(term: Term) -> tuple[int, bool] | None:
    """Return the number of bits that suffices for whole numbers, and True if they stand in an array; None for anything
    else.
    """
    if term.type.mask:
        return 1, True
    if term.op is Op.CONSTANT:
        return (term.data.numerator.bit_length(), False) if term.data.denominator == 1 else None
    if term.op is Op.COUNT or term.whole:
        return COUNTED, bool(term.type.axes)
    operands = [one.width for one in term.of[term.op is Op.CHOOSE :]]
    widths = [width for width in operands if width is not None]
    if term.op not in _WIDER or len(widths) < len(operands) or (term.op is Op.POWER and term.data < 0):
        return None
    return _WIDER[term.op](term.data, [bits for bits, _ in widths]), term.op is Op.CHOOSE or any(a for _, a in widths)


#: Bits of a count, or of a letter that is a whole number: more clients, or coordinates, do not fit in memory.
COUNTED = 31
_WIDER: Mapping[Op, Callable[[Any, list[int]], int]] = {
    Op.ADD: lambda data, bits: max(bits) + 1,
    Op.MULTIPLY: lambda data, bits: sum(bits),
    Op.POWER: lambda data, bits: data * bits[0],
    Op.CHOOSE: lambda data, bits: max(bits),
    Op.SUM: lambda data, bits: bits[0] + COUNTED,
    Op.WITHIN: lambda data, bits: bits[0] + COUNTED,
    Op.VIEW: lambda data, bits: bits[0],
    Op.CLIENT: lambda data, bits: bits[0],
    Op.HELD: lambda data, bits: bits[0],
    Op.BLOCK: lambda data, bits: bits[0],
}


def parts(*terms: Term) -> Iterator[Term]:
    """Yield all parts of some terms, each once, the parts of a term before itself."""
    seen: set[int] = set()
    stack: list[tuple[Term, bool]] = [(term, False) for term in reversed(terms)]
    while stack:
        term, done = stack.pop()
        if done:
            yield term
        elif id(term) not in seen:
            seen.add(id(term))
            stack.append((term, True))
            stack.extend((part, False) for part in reversed(term.of))


# Leaves


def constant(value: Fraction | int) -> Term:
    """Return a number that is written in the code. Zero is of any degree; a truth value is a mask."""
    if type(value) is bool:
        return Term(Op.CONSTANT, (), Type(mask=True), Fraction(value))
    return Term(Op.CONSTANT, (), Type(degree=0 if value else ANY_DEGREE), Fraction(value))


def leaf(op: Op, name: str, type: Type, whole: bool = False) -> Term:
    """Return a letter, a count, a part of the state, something given, a draw, or the result of a loop, which may be
    anything; ``whole``: True if a letter is a whole number.
    """
    if op not in (Op.LETTER, Op.COUNT, Op.GIVEN, Op.PART, Op.DRAW, Op.DIRECTION, Op.ANY):
        raise ValueError(f"{op} is not a leaf")
    _check_once(type.axes)
    return Term(op, (), type, name, whole)


def zeros(axes: tuple[Axis, ...], batched: bool = False) -> Term:
    """Return zeros with these axes."""
    return Term(Op.VIEW, (constant(0),), Type(axes, batched, ANY_DEGREE))


# Answers of a problem's functions and of compressors


def called(op: Op, name: str, on: Sequence[Term], axes: tuple[Axis, ...], degree: int) -> Term:
    """Return the answer of an oracle, or a compressed vector: of clients, at vectors of the same clients."""
    at = on[-1].type
    own, before = at.axes[-2:], at.axes[:-2]
    whole = own in ((Axis.CLIENTS, Axis.COORDINATES), (Axis.ONE, Axis.COORDINATES))
    if at.degree not in (1, ANY_DEGREE) or not whole or not set(before) <= {Axis.ONE, Axis.DRAWS}:
        hint = ": write x[..., None, :] for a point x" if own[-1:] == (Axis.COORDINATES,) and not whole else ""
        raise ValueError(f"{name} is taken at {at}, where vectors of clients are expected{hint}")
    batched = any(term.type.batched for term in on)
    if any(term.op is Op.ALL for term in on):
        if before != (Axis.ONE,):
            raise ValueError(f"{name} is taken with all draws at {at}, where an axis for them is expected")
        before = (Axis.DRAWS,)
    return Term(op, tuple(on), Type((*before, *axes), batched, degree), name)


def noisy(name: str, draw: Term, at: Term, bound: Term, axes: tuple[Axis, ...]) -> Term:
    """Return vectors of clients with noise of mean zero, each of a variance of at most ``bound``: the operands are the
    draw, the bound and the vectors."""
    _check_bound(name, bound.type, at.type.axes)
    return called(Op.COMPRESSED, name, [draw, bound, at], axes, 1)


_Of = TypeVar("_Of")


class Question(NamedTuple):
    """The question that an answer of an adversary is to: its name, how many balls beyond the first there are, and
    whether there is an answer whatever the operands are.

    The operands of the answer: the centre and the bound of the first ball; then, if there are more conditions, a vector
    that meets all of them, the centre and the bound of each other ball, and each direction with the least inner product
    with it.
    """

    name: str
    balls: int = 0
    sure: bool = False

    def __str__(self) -> str:
        return self.name

    def conditions(self, of: Sequence[_Of]) -> tuple[list[tuple[_Of, _Of]], list[tuple[_Of, _Of]], _Of]:
        """Return the balls, the half-spaces, and the vector that meets all conditions, from the operands."""
        rest = list(zip(of[3::2], of[4::2], strict=True))
        return [(of[0], of[1]), *rest[: self.balls]], rest[self.balls :], of[2] if rest else of[0]


def answered(
    name: str,
    centre: Term,
    bound: Term,
    within: Sequence[tuple[Term, Term]] = (),
    along: Sequence[tuple[Term, Term]] = (),
    feasible: Term | None = None,
    sure: bool = False,
) -> Term:
    """Return any vector, or any of each client, with squared distance at most ``bound`` from ``centre``.

    ``within``: centres and bounds of other balls in which it lies too; ``along``: directions, and the least inner
    product of the vector with each; ``feasible``: a vector that meets all of these, by default the centre; ``sure``:
    True if it is known to.
    """
    axes = centre.type.axes
    if centre.type.degree not in (1, ANY_DEGREE) or axes[-1:] != (Axis.COORDINATES,) or len(axes) > 2:
        raise ValueError(f"{name} is asked about {centre.type}, where a vector or one of each client is expected")
    if Axis.DRAWS in axes:
        raise ValueError(f"{name} is asked about all draws")
    _check_bound(name, bound.type, axes)
    for vector, number in (*within, *along):
        _check_vector(name, vector.type, axes)
        _check_bound(name, number.type, axes)
    pairs = [part for pair in (*within, *along) for part in pair]
    met = [centre if feasible is None else feasible] if pairs else []
    if met:
        _check_vector(name, met[0].type, axes)
    of = (centre, bound, *met, *pairs)
    question = Question(name, len(within), sure)
    return Term(Op.ANSWER, of, Type(axes, any(part.type.batched for part in of), 1), question)


def _check_vector(name: str, of: Type, axes: tuple[Axis, ...]) -> None:
    if of.axes != axes or of.degree not in (1, ANY_DEGREE):
        raise ValueError(f"{name} is given {of}, where a vector is expected, or one of each client, as its centre is")


def _check_bound(name: str, of: Type, axes: tuple[Axis, ...]) -> None:
    """Raise ``ValueError`` unless there is one number for each vector with these axes."""
    if of.degree not in (0, ANY_DEGREE) or of.mask or of.axes not in ((), axes[:-1], (Axis.ONE,) * len(axes[:-1])):
        raise ValueError(f"{name} is given {of} as its bound, where one number for each vector is expected")
    if of.batched and not of.axes and len(axes) > 1:
        raise ValueError(f"{name} is given one bound for vectors of all clients: write bound[..., None]")


# Operations


def broadcast(one: Type, other: Type) -> tuple[tuple[Axis, ...], bool]:
    """Return the axes of an entrywise operation on two arrays, and True if the result has replicas. An array with
    replicas has all axes of the other, or its replicas would be aligned with clients of the other.
    """
    long, short = (one, other) if len(one.axes) >= len(other.axes) else (other, one)
    if len(short.axes) < len(long.axes) and short.batched:
        raise ValueError(f"replicas of {short} stand where the axes of {long} begin")
    axes = list(long.axes)
    for place in range(1, len(short.axes) + 1):
        a, b = long.axes[-place], short.axes[-place]
        if a != b and Axis.ONE not in (a, b):
            raise ValueError(f"{a} of the one stand where the other has {b}")
        axes[-place] = b if a is Axis.ONE else a
    _check_once(tuple(axes))
    return tuple(axes), one.batched or other.batched


def _check_once(axes: tuple[Axis, ...]) -> None:
    """Raise ``ValueError`` if two axes run over the same: then a client would be taken for another."""
    long = [axis for axis in axes if axis is not Axis.ONE]
    if len(long) > len(set(long)):
        raise ValueError(f"two axes run over the {next(axis for axis in long if long.count(axis) > 1)}")


def add(one: Term, other: Term) -> Term:
    """Return the sum of terms of one degree."""
    axes, batched = broadcast(one.type, other.type)
    if one.type.mask and other.type.mask:
        raise ValueError("two masks are added, which numpy takes as a logical or")
    degrees = {one.type.degree, other.type.degree} - {ANY_DEGREE}
    if len(degrees) > 1:
        raise ValueError(f"{one.type} and {other.type} are added")
    return Term(Op.ADD, (one, other), Type(axes, batched, degrees.pop() if degrees else ANY_DEGREE))


def negative(one: Term) -> Term:
    """Return the term times -1."""
    return multiply(constant(-1), one)


def multiply(one: Term, other: Term) -> Term:
    """Return the product, entry by entry; at most two of its factors are vectors."""
    axes, batched = broadcast(one.type, other.type)
    degrees = one.type.degree, other.type.degree
    degree = ANY_DEGREE if ANY_DEGREE in degrees else sum(degrees)
    if degree > 2:
        raise ValueError(f"{one.type} is multiplied by {other.type}, which is not an inner product")
    return Term(Op.MULTIPLY, (one, other), Type(axes, batched, degree, one.type.mask and other.type.mask))


def divide(one: Term, other: Term) -> Term:
    """Return the quotient by a number."""
    axes, batched = broadcast(one.type, other.type)
    if other.type.degree != 0 or other.type.mask or Axis.COORDINATES in other.type.axes:
        raise ValueError(f"{one.type} is divided by {other.type}, where a number is expected")
    return Term(Op.DIVIDE, (one, other), Type(axes, batched, one.type.degree))


def power(one: Term, exponent: int) -> Term:
    """Return a power with an exponent that is written in the code: any of numbers, up to the second of vectors."""
    if one.type.mask:
        raise ValueError("a power of a mask is taken, which overflows in numpy")
    if one.type.degree == 0 and Axis.COORDINATES not in one.type.axes:
        degree = 0
    elif 0 < exponent and exponent * one.type.degree <= 2:
        degree = exponent * one.type.degree if one.type.degree >= 0 else ANY_DEGREE
    else:
        raise ValueError(f"the power {exponent} of {one.type} is not an inner product")
    return Term(Op.POWER, (one,), Type(one.type.axes, one.type.batched, degree), exponent)


def listed(numbers: Sequence[Term], kept: bool) -> Term:
    """Return one number for each client, as they are listed; ``kept``: True to add an axis of length 1 after that of
    the clients.
    """
    if wrong := next((one for one in numbers if one.type != NUMBER), None):
        raise ValueError(f"an array is made of {wrong.type}, where numbers are expected")
    return Term(Op.LISTED, tuple(numbers), Type((Axis.CLIENTS, Axis.ONE) if kept else (Axis.CLIENTS,)))


def root(one: Term) -> Term:
    """Return the square root of a number, either the same in all replicas or one of a state."""
    if one.type.degree or one.type.mask or Axis.COORDINATES in one.type.axes:
        raise ValueError(f"the square root of {one.type} is taken, where a number is expected")
    return Term(Op.ROOT if one.type == NUMBER else Op.SIZE, (one,), one.type)


def signs(one: Term) -> Term:
    """Return the signs of the coordinates of vectors: 1, 0 or -1 each."""
    if one.type.axes[-1:] != (Axis.COORDINATES,) or one.type.degree not in (1, ANY_DEGREE):
        raise ValueError(f"the signs of {one.type} are taken, where a vector is expected")
    return Term(Op.SIGNS, (one,), one.type)


def larger(one: Term, other: Term) -> Term:
    """Return the larger of two numbers, in each replica."""
    for of in (one.type, other.type):
        if of.degree > 0 or of.mask or Axis.COORDINATES in of.axes:
            raise ValueError(f"the larger of {one.type} and {other.type} is taken, where numbers are expected")
    axes, batched = broadcast(one.type, other.type)
    return Term(Op.LARGER, (one, other), Type(axes, batched))


def choose(mask: Term, one: Term, other: Term) -> Term:
    """Return ``one`` where a drawn mask is true, else ``other``."""
    if not mask.type.mask:
        raise ValueError(f"a choice depends on {mask.type}, where a draw is due")
    masks = one.type.mask and other.type.mask
    both = (multiply if masks else add)(one, other).type
    axes, batched = broadcast(mask.type, both)
    return Term(Op.CHOOSE, (mask, one, other), Type(axes, batched, both.degree, masks))


def block(one: Term, which: int) -> Term:
    """Return vectors, or products of two, in one block of coordinates, and 0 in the others."""
    if one.type.axes[-1:] != (Axis.COORDINATES,) or one.type.mask:
        raise ValueError(f"a block of coordinates is taken of {one.type}, where a vector is expected")
    return Term(Op.BLOCK, (one,), one.type, which)


def logical(op: Op, *masks: Term) -> Term:
    """Return the negation, conjunction or disjunction of masks."""
    if not all(term.type.mask for term in masks):
        raise ValueError(f"{op} is taken of {masks[0].type}, where masks are expected")
    axes, batched = masks[0].type.axes, masks[0].type.batched
    if len(masks) == 2:
        axes, batched = broadcast(masks[0].type, masks[1].type)
    return Term(op, masks, Type(axes, batched, 0, True))


def total(one: Term, axis: int, kept: bool) -> Term:
    """Return the sum along a whole axis, counted from the last: of clients, or of the coordinates of products of
    vectors.
    """
    axes = one.type.axes
    if not -len(axes) <= axis < 0:
        raise ValueError(
            f"{one.type} is summed along axis {axis}, which it does not have, or which may be one of replicas"
        )
    along, degree = axes[axis], one.type.degree
    if along is Axis.DRAWS:
        raise ValueError("draws that are not equally likely are summed")
    if along is Axis.COORDINATES:
        if degree not in (2, ANY_DEGREE):
            raise ValueError(
                f"the coordinates of {one.type} are summed, where coordinates of products of vectors are expected"
            )
        degree = 0 if degree == 2 else ANY_DEGREE
    place = len(axes) + axis
    left = (*axes[:place], *((Axis.ONE,) if kept else ()), *axes[place + 1 :])
    return Term(Op.SUM, (one,), Type(left, one.type.batched, degree), (along, axis, kept))


def of_client(one: Term, place: int, name: str) -> Term:
    """Return the entry of the client that a parameter names; ``place``: of the axis of clients, counted from the
    last.
    """
    axes = one.type.axes
    if not -len(axes) <= place < 0 or axes[place] is not Axis.CLIENTS:
        raise ValueError(f"the client {name} is looked up in {one.type}")
    if any(part.op in DRAWN for part in parts(one)):
        # Under a name of its own it would seem to be independent of what all clients draw.
        raise ValueError(f"the client {name} is looked up in what is drawn")
    left = (*axes[: len(axes) + place], *axes[len(axes) + place + 1 :])
    return Term(Op.CLIENT, (one,), Type(left, one.type.batched, one.type.degree, one.type.mask), name)


def within(one: Term, axis: int) -> Term:
    """Return the sums over the examples that each client holds, along an axis, counted from the last."""
    axes = list(one.type.axes)
    if not -len(axes) <= axis < 0 or axes[axis] is not Axis.EXAMPLES:
        raise ValueError(f"{one.type} is summed over the examples of each client along another axis")
    axes[axis] = Axis.CLIENTS
    return Term(Op.WITHIN, (one,), Type(tuple(axes), one.type.batched, one.type.degree), axis)


def of_owners(one: Term, place: int) -> Term:
    """Return, for each example, the entry of the client that holds it; ``place``: of the axis of clients, counted from
    the last.
    """
    axes = list(one.type.axes)
    if not -len(axes) <= place < 0 or axes[place] is not Axis.CLIENTS:
        raise ValueError(f"the clients that hold examples are looked up in {one.type}")
    axes[place] = Axis.EXAMPLES
    return Term(Op.HELD, (one,), Type(tuple(axes), one.type.batched, one.type.degree, one.type.mask), place)


def extreme(op: Op, one: Term) -> Term:
    """Return the least or the largest of the clients' numbers."""
    if one.type.axes[-1:] != (Axis.CLIENTS,) or one.type.degree or one.type.mask:
        raise ValueError(f"the {op} of {one.type} is taken, where a number for each client is expected")
    return Term(op, (one,), Type(one.type.axes[:-1], one.type.batched))


def all_draws(kind: str, of: Sequence[Term]) -> Term:
    """Return all subsets of clients that a distribution of this kind draws; ``of``: the terms on which it depends. Two
    distributions that are written alike have the same draws.
    """
    name = f"{kind} of {', '.join(map(written, of))}"
    return Term(Op.ALL, tuple(of), Type((Axis.DRAWS, Axis.CLIENTS), False, 0, True), (kind, name))


#: The kind of compressors' draws, in terms that stand for all draws of a kind.
COMPRESSION = "compression"


def all_compressions(name: str) -> Term:
    """Return all draws of the compressors of this name."""
    return Term(Op.ALL, (), Type((Axis.DRAWS,), False, 0, True), (COMPRESSION, name))


def written(one: Term) -> str:
    """Return a term in words, which differ for different terms."""
    return f"{one.op} {one.data} {one.type} ({', '.join(map(written, one.of))})"


def expected(one: Term, axis: int, draws: Term) -> Term:
    """Return the expectation over all draws of a distribution, which lie along an axis, counted from the last."""
    if any(
        term.op in (Op.DRAW, Op.DIRECTION) or (term.op is Op.ALL and term.data != draws.data) for term in parts(one)
    ):
        raise ValueError("an expectation is taken of something that depends on other draws")
    axes = one.type.axes
    if not -len(axes) <= axis < 0 or axes[axis] is not Axis.DRAWS:
        raise ValueError(f"the expectation is taken of {one.type} along an axis other than that of the draws")
    if one.type.mask:
        raise ValueError("the expectation of a mask is taken")
    place = len(axes) + axis
    left = (*axes[:place], *axes[place + 1 :])
    return Term(Op.EXPECTED, (one, draws), Type(left, one.type.batched, one.type.degree), axis)


#: Operations that are polynomials in draws, so that moments determine the expectation.
_OF_DRAWS = frozenset(
    {Op.ALL, Op.ADD, Op.MULTIPLY, Op.DIVIDE, Op.POWER, Op.CHOOSE, Op.NOT, Op.AND, Op.OR, Op.SUM, Op.VIEW}
)


def beyond_moments(expectation: Term) -> Term | None:
    """Return a part of an expectation that is not a polynomial in the draws on which it depends; None if all parts
    are.
    """
    drawn = _drawn(expectation)
    for term in drawn.values():
        # A compressor's draws are its own; its input is not drawn.
        compresses = term.op is Op.COMPRESSED and term.of[0].op is Op.ALL
        compresses = compresses and not any(id(part) in drawn for part in term.of[1:])
        if term.op not in _OF_DRAWS and not compresses:
            return term
    return None


def undrawn(expectation: Term) -> list[Term]:
    """Return the parts of an expectation that do not depend on the draws."""
    drawn = _drawn(expectation)
    return [term for term in parts(expectation.of[0]) if id(term) not in drawn]


def _drawn(expectation: Term) -> dict[int, Term]:
    """Return the parts of an expectation that depend on the draws, by identity."""
    one, draws = expectation.of
    found: dict[int, Term] = {}
    for term in parts(one):
        if (term.op is Op.ALL and term.data == draws.data) or any(id(part) in found for part in term.of):
            found[id(term)] = term
    return found


def view(one: Term, axes: tuple[Axis, ...]) -> Term:
    """Return the same entries under other axes: axes of length 1 are added, removed or spread."""
    if [a for a in one.type.axes if a is not Axis.ONE] != [a for a in axes if a is not Axis.ONE]:
        raise ValueError(f"{one.type} is taken for an array of {' and '.join(axes) or 'one number'}")
    return Term(Op.VIEW, (one,), Type(axes, one.type.batched, one.type.degree, one.type.mask))


def spread(one: Term, axes: tuple[Axis, ...]) -> Term:
    """Return the same entries at all places of axes that had length 1, or were missing."""
    found, batched = broadcast(one.type, Type(axes))
    if found != axes:
        raise ValueError(f"{one.type} is spread over {' and '.join(axes)}")
    return Term(Op.VIEW, (one,), Type(axes, batched, one.type.degree, one.type.mask))
