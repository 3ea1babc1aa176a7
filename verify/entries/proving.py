"""Identities between arrays whose lengths are letters, shown entry by entry for all lengths, indices and letters."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.identity import Identity
from fedtheory.numbers.rational import exact
from verify.entries import sums
from verify.entries.deciding import Facts, is_zero
from verify.entries.reader import EntryReader
from verify.entries.sums import PLACES, Grid, Product
from verify.exact import symbolic
from verify.reading import theory
from verify.reading.program import theirs
from verify.reading.source import Unread
from verify.reading.values import NamedTupleValue, Unknown, is_record_class

#: Axes of replicas that come before those of a part of a state; and instances at which what was read is compared with
#: the code, with the largest whole number among the parameters of these.
REPLICAS, COMPARED, LARGEST = 2, 4, 12


def note(claim: Claim) -> str:
    """Return in words what a proof shows."""
    return "read off the code entry by entry: for all lengths of arrays and sums, at all values of the letters"


def applies(claim: Claim) -> bool:
    """Return True if a claim states that two sides are equal, in a setting without functions or a method whose
    instances are all that it has."""
    setting = claim.setting
    plain = setting.drawing.special is not None and setting.functions is None and setting.algorithm is None
    return isinstance(claim.statement, Identity) and bool(claim.statement.quantities) and plain


def prove(claim: Claim, instances: Sequence[Instance]) -> str:
    """Return why a claim is not shown; empty if it is. Raise ``Unread`` if its code is not read."""
    reader = EntryReader()
    ours = theory.holds(getattr(claim.setting.drawing.special, "build", None))
    symbols = _symbols(claim, instances, ours)
    params, state, sizes = _scene(instances, symbols, ours)
    given = Unknown("a claim of numbers has no problem"), params, state
    letters = _letters(claim, reader, given[:2], symbols)
    known = tuple(relation.xreplace(letters) for relation in symbolic.assumed(claim))
    facts = Facts((*known, *_hypotheses(claim, reader, given[:2]), *sizes))
    found: dict[sympy.Expr, Grid] = {}
    for quantity in claim.statement.quantities:
        if quantity.after or quantity.domain is not None:
            raise Unread(f"{quantity.expression} is of some states only, or of those after a step")
        value = reader.call(theirs(quantity.of), *given)
        if not isinstance(value, Grid):
            raise Unread(f"{quantity.expression} is not an array")
        found[quantity.expression] = value
    pairs = []
    for comparison in claim.statement.comparisons:
        if comparison.relation != "==":
            raise Unread(f"the claim says {comparison.relation}")
        pairs.append([_of_expression(reader, side, found, letters) for side in (comparison.left, comparison.right)])
    for relation, there in reader.owed:
        if not facts.with_more(*there).implies(relation):
            return f"the code needs {relation}, which the hypotheses do not imply"
    if not all(is_zero(sums.add(left, sums.negative(right)), facts) for left, right in pairs):
        return "the entries of the two sides are not shown to be equal"
    return _compare(claim, found, instances, symbols)


# What functions of a claim are called with


def _symbols(claim: Claim, instances: Sequence[Instance], ours: bool) -> dict[str, sympy.Symbol]:
    """Return the symbols of the parameters that are numbers: the letters of the claim, where it has some. Of those that
    code outside the theory makes, these alone are known to be numbers at all instances."""
    if not instances or not is_record_class(type(instances[0].params)):
        raise Unread("there is no instance, or parameters have code of their own")
    found = {}
    of_names = {source: letter for letter, source in claim.setting.sources.items() if isinstance(source, str)}
    for name in type(instances[0].params)._fields:
        values = [getattr(instance.params, name) for instance in instances]
        whole = all(type(v) is int for v in values)
        if not whole and not all(isinstance(v, int | Fraction) and type(v) is not bool for v in values):
            continue
        if not ours and name not in of_names:
            continue
        kind = {"integer": True} if whole else {"real": True}
        found[name] = of_names.get(name, sympy.Dummy(f"params.{name}", **kind))
        if whole and not found[name].is_integer:
            raise Unread(f"the letter {found[name]} is a whole number, which is not declared")
    return found


def _scene(
    instances: Sequence[Instance], symbols: Mapping[str, sympy.Symbol], ours: bool
) -> tuple[NamedTupleValue, NamedTupleValue, list[sympy.Basic]]:
    """Return the parameters, a state that is not read, as it has replicas, and that its axes are not empty."""
    params = NamedTupleValue(
        type(instances[0].params),
        {
            name: _number(symbols[name]) if name in symbols else Unknown(f"the parameter {name}, which is not a number")
            for name in type(instances[0].params)._fields
        },
    )
    states = [instance.at(exact(np.zeros((1, instance.dimension), dtype=int)))[1] for instance in instances]
    State = type(states[0])
    if not is_record_class(State):
        raise Unread("a state has code of its own")
    sizes: list[sympy.Basic] = []
    for name in State._fields if ours else ():
        shapes = [np.shape(getattr(state, name))[REPLICAS:] for state in states]
        if any(len(shape) != len(shapes[0]) for shape in shapes):
            raise Unread(f"the part {name} of a state has different axes at different instances")
        lengths = [_length([shape[k] for shape in shapes], instances, symbols) for k in range(len(shapes[0]))]
        sizes += [sympy.Ge(length, 1, evaluate=False) for length in lengths]
    parts = {name: Unknown(f"the part {name} of a state, which has replicas") for name in State._fields}
    return params, NamedTupleValue(State, parts), sizes


def _length(lengths: Sequence[int], instances: Sequence[Instance], symbols: Mapping[str, sympy.Symbol]) -> sympy.Symbol:
    """Return the parameter that an axis is as long as, at all instances."""
    names = [
        name
        for name, symbol in symbols.items()
        if symbol.is_integer and lengths == [getattr(instance.params, name) for instance in instances]
    ]
    if len(names) != 1 or len(set(lengths)) < 2:
        raise Unread("an axis of a state is not seen to be as long as one parameter says")
    return symbols[names[0]]


def _number(symbol: sympy.Symbol) -> Grid:
    return Grid((), (Product(symbol),), bool(symbol.is_integer))


def _letters(
    claim: Claim, reader: EntryReader, given: tuple[Any, ...], symbols: Mapping[str, sympy.Symbol]
) -> dict[sympy.Symbol, sympy.Expr]:
    """Return the values of letters that code computes of parameters; those that cannot be read may have any."""
    found = {}
    for letter, source in claim.setting.sources.items():
        before = len(reader.owed)
        try:
            value = reader.call(theirs(source), *given) if callable(source) else symbols[source]
            number = value.number() if isinstance(value, Grid) else value
        except (ValueError, KeyError):
            del reader.owed[before:]
            continue
        if isinstance(number, sympy.Expr):
            found[letter] = number
    return found


def _hypotheses(claim: Claim, reader: EntryReader, given: tuple[Any, ...]) -> Iterator[sympy.Basic]:
    """Yield what hypotheses that are code say; nothing is assumed of those that cannot be read."""
    for hypothesis in claim.requires:
        if hypothesis.met is None:
            continue
        before = len(reader.owed)
        try:
            yield reader.relation(reader.call(theirs(hypothesis.met), *given))
        except ValueError:
            continue
        finally:
            # A hypothesis that cannot be decided is not met.
            del reader.owed[before:]


def _of_expression(
    reader: EntryReader, e: sympy.Expr, found: Mapping[sympy.Expr, Grid], letters: Mapping[sympy.Symbol, sympy.Expr]
) -> Grid:
    if e in found:
        return found[e]
    if e.is_Rational:
        return sums.number(e)
    if isinstance(e, sympy.Symbol):
        return sums.number(letters.get(e, e), bool(letters.get(e, e).is_integer))
    parts = [_of_expression(reader, part, found, letters) for part in e.args]
    if isinstance(e, sympy.Add | sympy.Mul):
        made = parts[0]
        for other in parts[1:]:
            made = sums.add(made, other) if isinstance(e, sympy.Add) else sums.multiply(made, other)
        return made
    if isinstance(e, sympy.Pow):
        if e.exp.is_Integer and e.exp < 0:
            one = reader.operated(ast.Div(), 1, parts[0])
            return reader.operated(ast.Pow(), one, -int(e.exp))
        return reader.operated(ast.Pow(), *parts)
    raise Unread(f"{e} is not known from what was read")


# What was read, compared with the code


def _compare(
    claim: Claim, found: Mapping[sympy.Expr, Grid], instances: Sequence[Instance], symbols: Mapping[str, sympy.Symbol]
) -> str:
    """Return why what was read cannot be compared; empty if it agrees with code. Raise ``Unread`` if it does not."""
    small = [
        i
        for i in instances
        if all(getattr(i.params, name) <= LARGEST for name, symbol in symbols.items() if symbol.is_integer)
    ]
    for instance in small[:COMPARED]:
        numbers = {symbol: sympy.Rational(Fraction(getattr(instance.params, n))) for n, symbol in symbols.items()}
        problem, state = instance.at(exact(np.arange(1, instance.dimension + 1)[None] % 7 - 2))
        for quantity in claim.statement.quantities:
            there = np.asarray(quantity.of(problem, instance.params, state), dtype=object)
            here = _evaluated(found[quantity.expression], numbers)
            if here.shape != there.shape[there.ndim - here.ndim :] or not bool((there == here).all()):
                raise Unread(f"{quantity.expression} is not what was read there")
    return "" if small else "there is no instance at which what was read can be compared with the code"


def _evaluated(one: Grid, numbers: Mapping[sympy.Symbol, sympy.Expr]) -> Any:
    """Return the entries of an array at numbers."""
    lengths = [int(length.xreplace(numbers)) for length in one.lengths]
    found = np.zeros(lengths, dtype=object)
    for at in product(*map(range, lengths)):
        here = {**numbers, **dict(zip(PLACES, map(sympy.Integer, at[::-1]), strict=False))}
        found[at] = sum((_value(p, here) for p in one.of), Fraction(0))
    return found


def _value(one: Product, here: dict[sympy.Symbol, sympy.Expr]) -> Fraction:
    """Return the value of a product, with its sums."""
    ready = next((r for r in one.over if all(part.xreplace(here).is_number for part in r[1:])), None)
    if ready is not None:
        rest = one._replace(over=tuple(r for r in one.over if r is not ready))
        ends = [int(part.xreplace(here)) for part in ready[1:]]
        return sum((_value(rest, {**here, ready.index: sympy.Integer(i)}) for i in range(*ends)), Fraction(0))
    places = [(place.of.xreplace(here), place.least) for place in one.where]
    if not all(of >= 0 if least else of == 0 for of, least in places):
        return Fraction(0)
    value = one.number.xreplace(here)
    return Fraction(int(value.p), int(value.q))
