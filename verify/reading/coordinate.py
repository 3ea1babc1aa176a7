"""A compressor as it is read, in one coordinate: the values of an entry x and their probabilities, for all d and k.

A vector stands for its generic entry, so only entrywise operations are read: arithmetic, ``np.where`` on comparisons
and masks, absolute values, signs, and the power of two below. The draw of an entry is a mask, each value of which is
read by itself, and perhaps a uniform variate, which may only be compared, or one that selects a coordinate.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory import compressors, randomness
from fedtheory.compressors import Compressor, index_bits, power_below
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.numbers import rational
from verify.reading import known, terms
from verify.reading.arrays import as_term
from verify.reading.program import theirs
from verify.reading.reader import PATHS, Reader
from verify.reading.selecting import CHANCE, ONE_U, TOTAL, EntryReader, U, places, running_sums
from verify.reading.source import Unread
from verify.reading.terms import NUMBER, Op, Term, parts
from verify.reading.values import COMPARISONS, Condition, Law, Named, NamedTupleValue, Rule, Unknown, relation_of

#: The ingredients of an entry, besides variates: itself, and the power of two below it.
X, LOW = (terms.leaf(Op.GIVEN, name, NUMBER) for name in ("x", "low"))
_D, _K, _BITS = (
    terms.leaf(Op.COUNT, "d", NUMBER),
    terms.leaf(Op.COUNT, "k", NUMBER),
    terms.leaf(Op.GIVEN, "bits of an index", NUMBER),
)
x, low = sympy.Symbol("x", real=True), sympy.Symbol("low", positive=True)
#: The sum of the sizes of all entries, and the chance of an entry to be selected where it is 0.
total, chance = sympy.Symbol("total", nonnegative=True), sympy.Symbol("chance", nonnegative=True)
#: The entry, and what is drawn for it or depends on others.
_OF_ENTRY = (X, LOW, U, ONE_U, TOTAL, CHANCE)


@dataclass(frozen=True)
class EntryValue:
    """One possible value of an entry.

    ``where``: relations in x, low, d and k under which it occurs; ``probability``: of the masks that were drawn;
    ``below``: a number, and True if the uniform variate is below it, False if not; None if the variate does not matter;
    ``value``: the resulting entry.
    """

    where: tuple[sympy.Basic, ...]
    probability: sympy.Expr
    below: tuple[sympy.Expr, bool] | None
    value: sympy.Expr


@dataclass(frozen=True)
class CoordinateCompressor:
    """A compressor in one coordinate: its outcomes, on fractions, and on floats if these differ; its own omega and
    bits; and its demands, each with the conditions known there: relations without which its code raises an error, for
    instance divides by zero.
    """

    outcomes: tuple[tuple[EntryValue, ...], ...]
    omega: sympy.Expr
    bits: sympy.Expr
    demands: tuple[tuple[tuple[sympy.Basic, ...], sympy.Basic], ...]


def read(statement: CompressorClass) -> CoordinateCompressor:
    """Return the compressor of a claim. Raise ``Unread`` with the reason if its code cannot be read."""
    try:
        both = [_read(statement, exact) for exact in (True, False)]
    except ValueError as error:
        raise Unread(str(error)) from error
    of, omega, bits, demands = both[0]
    if (omega, bits) != both[1][1:3]:
        raise Unread("floats and fractions get different compressors")
    return CoordinateCompressor(
        tuple(dict.fromkeys((of, both[1][0]))), omega, bits, tuple(dict.fromkeys((*demands, *both[1][3])))
    )


def _read(statement: CompressorClass, exact: bool) -> tuple[tuple[EntryValue, ...], sympy.Expr, sympy.Expr, Any]:
    """Read a compressor on fractions, or on floats, each taken as the decimal that is written."""
    say, reading = _Letters(statement), _Reading(exact)
    made = reading.compressor(statement)
    omega, bits = (say.number(as_term(made.fields[name])) for name in ("omega", "bits"))
    demands = list(reading.demanded(say))
    found: list[EntryValue] = []
    for draw, probability in _draws(made.fields["draws"]):
        for _ in reading.reader.paths():
            value = reading.becomes(made, draw)
            demands += reading.demanded(say)
            found.append(_outcome(say, reading.reader.taken, probability, value))
            if len(found) > PATHS:
                raise Unread(f"there are more than {PATHS} outcomes of an entry")
    return tuple(found), omega, bits, tuple(demands)


def _outcome(say: _Letters, taken: list[tuple[Condition, bool]], probability: Term, value: Term) -> EntryValue:
    """Return the value of an entry on one path, on which a uniform variate is compared at most once, with a number."""
    below: tuple[sympy.Expr, bool] | None = None
    where = []
    for condition, answer in taken:
        if not _depends_on(condition, U):
            where.append(say.relation(condition, answer))
            continue
        left, right = condition.of
        if condition.by not in ("<", "<=") or (left is not U) == (right is not U):
            raise Unread("a uniform variate is used other than by comparing it with a number")
        if below is not None:
            raise Unread("a uniform variate is compared more than once")
        # Equality has probability 0.
        below = say.number(right if left is U else left), answer is (left is U)
    return EntryValue(tuple(where), say.number(probability), below, say.number(value))


def _depends_on(condition: Any, *leaves: Term) -> bool:
    """Return True if a condition depends on some leaves."""
    if isinstance(condition, Condition):
        return any(_depends_on(part, *leaves) for part in condition.of)
    return isinstance(condition, Term) and any(part in leaves for part in parts(condition))


class _Letters:
    """Terms as expressions in the letters of a statement, and in x and low."""

    def __init__(self, statement: CompressorClass) -> None:
        d = statement.d
        self._leaves = {
            id(X): x,
            id(LOW): low,
            id(TOTAL): total,
            id(CHANCE): chance,
            id(_D): d,
            id(_K): statement.k,
            # The binary length of d - 1 is the logarithm of d, rounded up, for every d >= 1.
            id(_BITS): sympy.ceiling(sympy.log(d, 2)),
        }

    def number(self, term: Term) -> sympy.Expr:
        """Return a term as an expression. Raise ``Unread`` if it is not a number in these letters."""
        if id(term) in self._leaves:
            return self._leaves[id(term)]
        if term.op is Op.CONSTANT:
            return sympy.Rational(term.data.numerator, term.data.denominator)
        rule = _ARITHMETIC.get(term.op)
        if rule is None or term.type.axes:
            # A new axis would stand beside those of the vector; an entry has none.
            raise Unread(f"nothing says which number {term.data or term.op} is")
        return rule(term, *map(self.number, term.of))

    def divisors(self, reader: Reader) -> Iterator[tuple[tuple[sympy.Basic, ...], sympy.Basic]]:
        """Yield the relation that each divisor, used or not, is nonzero, with the conditions met before: the divisors
        of these were met earlier.
        """
        for quotient, met in reader.quotients:
            before = [self.relation(c, answer) for c, answer in reader.taken[:met] if not _depends_on(c, U)]
            yield tuple(before), sympy.Ne(self.number(quotient.of[-1]), 0, evaluate=False)

    def relation(self, condition: Any, answer: bool) -> sympy.Basic:
        """Return a condition that holds, or does not, as a relation."""
        relation = relation_of(condition, lambda side: self.number(as_term(side)))
        return relation if answer else sympy.Not(relation)


_ARITHMETIC: Mapping[Op, Callable[..., sympy.Expr]] = {
    Op.ADD: lambda term, a, b: a + b,
    Op.MULTIPLY: lambda term, a, b: a * b,
    Op.DIVIDE: lambda term, a, b: a / b,
    Op.POWER: lambda term, a: a**term.data,
    Op.VIEW: lambda term, a: a,
}


class _Reading:
    """The code of a compressor while it is read: the function that makes it once, and its code on every path."""

    def __init__(self, exact: bool) -> None:
        #: Conditions on distributions without which an error is raised.
        self.demands: list[Condition] = []
        #: The sizes of the entry, as abs gave them: of others, which have other signs, these alone are sizes too.
        self.sizes: list[Term] = []
        self.reader = EntryReader((*known.FUNCTIONS, *self._rules(exact)), _D)

    def _rules(self, exact: bool) -> Iterator[tuple[Any, Any]]:
        yield np.where, Rule("where", self._where)
        yield builtins.abs, Rule("abs", self._size)
        yield np.abs, Rule("abs", self._size)
        yield np.sign, Rule("sign", self._sign)
        yield np.cumsum, Rule("cumsum", lambda of, axis: running_sums(of, self.sizes, axis))
        yield np.arange, Rule("arange", lambda count: places(count, _D))
        yield builtins.float, Rule("float", _refused if exact else _as_float)
        yield builtins.bool, Rule("bool", _refused)
        yield rational.is_exact, Rule("is_exact", lambda *of: exact)
        # A float is the fraction that it equals.
        yield rational.exact, Rule("exact", as_term)
        yield power_below, Rule("power_below", _below)
        yield index_bits, Rule("index_bits", _indexing)
        yield Compressor, Rule("Compressor", _compressor)
        yield compressors.Layout, Rule("Layout", lambda *of, **named: Unknown("how a message is written"))
        yield randomness.UniformSubset, Rule("UniformSubset", self._subset)
        yield randomness.Uniform01, Rule("Uniform01", _uniform)
        yield randomness.Bernoulli, Rule("Bernoulli", self._coin)
        yield randomness.Independent, Rule("Independent", _independent)
        yield randomness.Product, Rule("Product", _product)

    def compressor(self, statement: CompressorClass) -> Named:
        """Return the compressor that the statement's function makes of d and k."""
        made = self.reader.call(theirs(statement.compressor), _D, _K)
        if not isinstance(made, Named) or made.what != "a compressor" or made.fields["d"] is not _D:
            raise Unread("the function of d and k does not return a compressor on R^d")
        if self.reader.taken:
            raise Unread("which compressor is made depends on a condition")
        return made

    def becomes(self, made: Named, draw: Any) -> Term:
        """Return the value of an entry after compression."""
        value = as_term(self.reader.call_with(made.fields["apply"], (draw, X), {}))
        if value.type.axes or value.type.mask:
            raise Unread(f"an entry becomes {value.type}")
        decided = [condition for condition, _ in self.reader.deciding]
        decided += [*self.reader.asked, *(condition for _, condition in self.reader.raising)]
        if any(_depends_on(condition, *_OF_ENTRY) for condition in decided):
            raise Unread("a branch depends on one entry of an array")
        return value

    def demanded(self, say: _Letters) -> Iterator[tuple[tuple[sympy.Basic, ...], sympy.Basic]]:
        """Yield the conditions without which the path that was read raises an error, each with the conditions known
        there.
        """
        yield from (((), say.relation(condition, True)) for condition in self.demands)
        yield from (((), say.relation(condition, False)) for _, condition in self.reader.raising)
        yield from say.divisors(self.reader)

    def _where(self, test: Any, one: Any, other: Any) -> Any:
        if isinstance(test, Condition):
            if test.by not in COMPARISONS:
                raise ValueError("a choice depends on more than a comparison")
            chosen = self.reader.answered(test)
        else:
            chosen = _truth(as_term(test))
        value = as_term(one if chosen else other)
        # Whole numbers now stand in an array.
        return value if value.width is None else terms.multiply(terms.constant(True), value)

    def _is(self, by: str, one: Term, other: Term) -> bool:
        return self.reader.answered(Condition(by, (one, other)))

    def _size(self, value: Any) -> Term:
        term = _entry(value)
        size = terms.multiply(terms.constant(-1 if self._is("<", term, terms.constant(0)) else 1), term)
        if term is X:
            self.sizes.append(size)
        return size

    def _sign(self, value: Any) -> Term:
        term, zero = _entry(value), terms.constant(0)
        if self._is("==", term, zero):
            return zero
        return terms.constant(-1 if self._is("<", term, zero) else 1)

    def _subset(self, of: Any, size: Any) -> Law:
        count = as_term(size)
        if of is not _D or count.type != NUMBER or _depends_on(count, *_OF_ENTRY):
            raise ValueError("a subset is drawn of something other than the coordinates")
        self.demands.append(
            Condition("and", (Condition("<=", (terms.constant(1), count)), Condition("<=", (count, _D))))
        )
        return Law("mask", (terms.divide(count, _D),))

    def _coin(self, p: Any) -> Law:
        of = as_term(p)
        if of.type != NUMBER and of.op is not Op.CONSTANT:
            raise ValueError("the probability of a coin is not a number")
        ends = Condition("<=", (terms.constant(0), of)), Condition("<=", (of, terms.constant(1)))
        self.demands.append(Condition("and", ends))
        return Law("shared coin", (of,))


def _truth(mask: Term) -> bool:
    """Return a mask whose draw is known."""
    if mask.op is Op.CONSTANT and mask.type.mask:
        return bool(mask.data)
    if mask.op in (Op.NOT, Op.AND, Op.OR) and not mask.type.axes:
        of = [_truth(part) for part in mask.of]
        return not of[0] if mask.op is Op.NOT else all(of) if mask.op is Op.AND else any(of)
    raise ValueError(f"a choice depends on {mask.type}")


def _entry(value: Any) -> Term:
    term = as_term(value)
    if term.type.axes or term.type.mask or term.type.degree > 0:
        raise ValueError(f"a size or a sign is taken of {term.type}")
    return term


def _refused(value: Any) -> Any:
    raise ValueError("a number is converted to a float among fractions, or an array to a truth value")


def _as_float(value: Any) -> Any:
    if isinstance(value, Term) and value.type == NUMBER and not _depends_on(value, *_OF_ENTRY):
        return value
    if type(value) not in (int, Fraction):
        raise ValueError("a float is made from something that is not a number")
    return value


def _below(value: Any) -> Term:
    if value is not X:
        raise ValueError("the power of two below a number other than the entry is taken")
    return LOW


def _indexing(count: Any) -> Term:
    if count is not _D:
        raise ValueError("bits of another index than that of a coordinate are counted")
    return _BITS


def _compressor(
    name: Any,
    d: Any,
    draws: Any,
    apply: Any,
    omega: Any,
    bits: Any = 0,
    enumerate: Any = None,
    layout: Any = None,
) -> Named:
    fields = {"d": d, "draws": draws, "apply": apply, "omega": omega, "bits": bits, "enumerate": enumerate}
    return Named("a compressor", fields)


def _uniform(shape: Any) -> Law:
    if type(shape) is not tuple or len(shape) != 1 or (shape[0] is not _D and shape[0] != 1):
        raise ValueError("uniform variates are drawn with a shape other than (d,) or (1,)")
    return Law("uniform" if shape[0] is _D else "one uniform")


def _independent(one: Any, count: Any) -> Law:
    if not isinstance(one, Law) or one.name != "shared coin" or count is not _D:
        raise ValueError("something other than a coin for each coordinate is drawn")
    return Law("mask", one.of)


def _product(make: Any, of: Any) -> Law:
    law = known.product(make, of)
    if _uniforms(law) > 1:
        raise ValueError("more than one uniform variate is drawn for an entry")
    return law


def _uniforms(law: Law) -> int:
    return sum(map(_uniforms, law.of)) if law.name == "product" else int(law.name in ("uniform", "one uniform"))


def _draws(law: Any) -> Iterator[tuple[Any, Term]]:
    """Yield the possible draws for an entry, with the probabilities of masks."""
    if not isinstance(law, Law):
        raise ValueError("the distribution of a draw is not supported")
    if law.name == "constant":
        yield Unknown("a draw where nothing is drawn"), terms.constant(1)
    elif law.name == "uniform":
        yield U, terms.constant(1)
    elif law.name == "one uniform":
        yield ONE_U, terms.constant(1)
    elif law.name == "mask":
        yield terms.constant(True), law.of[0]
        yield terms.constant(False), terms.add(terms.constant(1), terms.negative(law.of[0]))
    elif law.name == "product":
        yield from _side_by_side(law, {})
    else:
        raise ValueError(f"nothing says what a {law.name} is in one coordinate")


def _side_by_side(law: Law, done: Mapping[str, tuple[Any, Term]]) -> Iterator[tuple[Any, Term]]:
    names = law.make._fields  # type: ignore[union-attr]
    if len(done) == len(names):
        probability = terms.constant(1)
        for _, p in done.values():
            probability = terms.multiply(probability, p)
        yield NamedTupleValue(law.make, {name: draw for name, (draw, _) in done.items()}), probability
        return
    for option in _draws(law.of[len(done)]):
        yield from _side_by_side(law, {**done, names[len(done)]: option})
