"""A test that all code of a claim that runs at an instance is read: then it treats all coordinates alike, and looks at
nothing else.

Facts about vectors that are known by their inner products alone hold in every dimension only of such code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sympy

from fedtheory.algorithms.base import no_step
from fedtheory.algorithms.next_round import NextRound
from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.agreement import Agreement
from verify.base.case import Case
from verify.reading import claimed, comparing, known, oracles, theory
from verify.reading.arrays import as_term
from verify.reading.program import law_of, theirs
from verify.reading.reader import Reader
from verify.reading.signs import is_nonnegative
from verify.reading.source import Unread
from verify.reading.terms import NUMBER, Axis, Op, Term, parts
from verify.reading.values import Condition, Law, NamedTupleValue, Several

#: The number of times that code is read again because a condition on letters was answered wrongly.
_TIMES = 64
#: The highest power of a letter in code. Certificates are checked at a few values of each.
POWERS = 8


@dataclass(frozen=True)
class Code:
    """The terms that a claim's code computes, as read at an instance; ``unread``: why some of it is not read, empty if
    all is.
    """

    unread: str
    computed: tuple[Term, ...]

    def sums(self) -> list[sympy.Expr]:
        """Return the sums of letters in it, simple ones first. Their letters have the names of the numbers of the
        problem and of the parameters.
        """
        made = {e for e in _in_letters(self.computed).values() if e.is_Add and e.free_symbols}
        return sorted(made, key=lambda e: (e.count_ops(), str(e)))

    def numbers(self) -> frozenset[str]:
        """Return the names of all numbers of the problem, its functions and the parameters that it depends on."""
        leaves = (term for term in parts(*self.computed) if term.op in (Op.LETTER, Op.COUNT, Op.GIVEN))
        return frozenset(str(leaf.data) for leaf in leaves if leaf.type.degree == 0)


def unread(case: Case) -> str:
    """Return why some of a claim's code is not read at the parameters of an instance; empty if all of it is."""
    return read(case).unread


def _in_letters(terms: Iterable[Term]) -> dict[int, sympy.Expr]:
    """Return the expressions in letters alone, by the identities of terms."""
    found: dict[int, sympy.Expr] = {}
    for term in parts(*terms):
        of = [found[id(part)] for part in term.of if id(part) in found]
        if term.type == NUMBER and len(of) == len(term.of) and term.op in _LETTERS:
            found[id(term)] = _LETTERS[term.op](term.data, of)
    return found


def letter(name: Any) -> sympy.Symbol:
    """Return the symbol of a number of the problem or a parameter of this name."""
    return sympy.Symbol(str(name), real=True)


#: The operations on letters alone, in letters.
_LETTERS: Mapping[Op, Callable[[Any, list[sympy.Expr]], sympy.Expr]] = {
    Op.CONSTANT: lambda value, of: sympy.Rational(value.numerator, value.denominator),
    **dict.fromkeys((Op.LETTER, Op.COUNT, Op.GIVEN), lambda name, _: letter(name)),
    Op.ADD: lambda _, of: sympy.Add(*of),
    Op.MULTIPLY: lambda _, of: sympy.Mul(*of),
    Op.DIVIDE: lambda _, of: of[0] / of[1],
    Op.POWER: lambda exponent, of: of[0] ** exponent,
    Op.ROOT: lambda _, of: sympy.sqrt(of[0]),
}


def read(case: Case) -> Code:
    """Read a claim's code at the parameters of an instance.

    At conditions on letters it follows the branch taken there. Code may not depend on the length of vectors.
    """
    path: list[bool] = []
    for _ in range(_TIMES):
        reader, made = Reader(known.FUNCTIONS, path), []
        try:
            scene = claimed.scene_at(case, reader)
            for value in _values(case.claim, reader, scene):
                results = _terms_of(value)
                _check(results, getattr(case.problem, "blocks", None) is not None)
                _check_bounds(results, case.instance)
                made += results
        except (Unread, ValueError) as error:
            why = str(error)
        else:
            why = ""
        wrong = _first_wrong(case.instance, reader)
        if wrong is None:
            return Code(why or _looks(reader), tuple(made))
        path = [answer for _, answer in reader.taken[:wrong]] + [not reader.taken[wrong][1]]
    return Code(f"more than {_TIMES} conditions on letters occur in the code", ())


def foreign(claim: Claim) -> str:
    """Return the name of a function of a claim that is not entirely code of this package's theory as it stands; or
    empty.
    """
    # The setting's method defines the start of runs, and the fixed point of states.
    methods = (claim.statement.algorithm, getattr(claim.statement, "second", None), claim.setting.algorithm)
    algorithms = [a for a in methods if a is not None]
    functions = [
        *_functions(claim),
        getattr(claim.statement, "counterpart", None),
        *getattr(claim.statement, "seen", ()),
    ]
    functions += [f for a in algorithms for f in (a.draws, a.step, a.init, a.fixed_point, a.invariant)]
    functions += [claim.setting.drawing.parameters]
    functions += [*claim.setting.sources.values(), claim.setting.drawing.special]
    functions += [hypothesis.met for hypothesis in claim.requires]
    return next((str(getattr(f, "__name__", type(f).__name__)) for f in functions if not theory.holds(f)), "")


def _looks(reader: Reader) -> str:
    """Return a condition on letters that decides a branch, other than one of a letter in code of this package's
    theory.
    """
    for condition, file in reader.deciding:
        if not theory.is_file(file) or not _is_plain(condition):
            return f"{Path(file).name} has a condition on the values of letters"
    return ""


def _is_plain(condition: Any) -> bool:
    """Return True if a condition compares only bare letters and written numbers."""
    if isinstance(condition, Condition):
        return all(map(_is_plain, condition.of))
    return not isinstance(condition, Term) or not condition.of


def _first_wrong(instance: Instance, reader: Reader) -> int | None:
    """Return the index of the first condition whose answer differs from its value at the instance; None if none
    does.
    """
    for k, (condition, answer) in enumerate(reader.taken):
        if comparing.holds(condition, instance.problem, instance.params, None) is not answer:
            return k
    return None


def _values(claim: Claim, reader: Reader, scene: claimed.Scene) -> Iterator[Any]:
    """Yield the results of all functions of a claim that run on vectors."""
    statement = claim.statement
    given = scene.problem, scene.params, scene.state
    for function in _functions(claim):
        if type(function) is NextRound:
            # The expectation is read if its integrand is.
            law, after = _drawn(function, reader, given)
            yield tuple(law.terms())
            yield reader.call(theirs(function.of), *given, after)
        else:
            yield reader.call(theirs(function), *given)
    schedules = getattr(statement.algorithm, "schedules", {})
    if any(str(symbol) == "d" for schedule in schedules.values() for symbol in schedule.free_symbols):
        raise Unread("a schedule depends on the dimension")
    for letter, source in claim.setting.sources.items():
        if any(side.has(letter) for c in statement.comparisons for side in (c.left, c.right)):
            if callable(source):
                yield reader.call(theirs(source), *given[:2])
            elif source == "d":
                raise Unread("a letter is the dimension")
    if isinstance(statement, Agreement):
        second = reader.call(theirs(statement.counterpart), *given)
        if type(second) is not tuple or len(second) != 2:
            raise Unread("the counterpart is not a pair of parameters and a state")
        yield from _step(statement.algorithm, reader, given)
        yield from _step(statement.second, reader, (scene.problem, *second))
    elif statement.algorithm is not None and statement.algorithm.step is not no_step:
        yield from _step(statement.algorithm, reader, given)


def _functions(claim: Claim) -> Iterator[Callable[..., Any]]:
    statement = claim.statement
    for quantity in statement.quantities:
        yield quantity.of
        if quantity.domain is not None:
            yield quantity.domain
    hints = claim.setting.hints
    if statement.residual is not None:
        yield statement.residual
    if hints.known is not None:
        yield hints.known
    if statement.horizon:
        # Through these a bound is shown for every T.
        potentials = (*hints.basis, *(() if claim.setting.potential is None else (claim.setting.potential,)))
        yield from (quantity.of for quantity in potentials)
        yield from hints.lyapunov


def _step(algorithm: Any, reader: Reader, given: tuple[Any, Any, Any]) -> Iterator[Any]:
    law, after = _drawn(algorithm, reader, given, algorithm.State)
    yield tuple(law.terms())
    yield after


def _drawn(of: Any, reader: Reader, given: tuple[Any, Any, Any], State: type | None = None) -> tuple[Law, Any]:
    """Return the law of the draws of something with a step, and the state after the step."""
    law = law_of(reader, of, given)
    return law, reader.call_step(theirs(of.step, State), *given, oracles.drawn(law))


def _terms_of(value: Any) -> list[Term]:
    """Return the terms of a value. Raise ``Unread`` if it is not made of terms."""
    if isinstance(value, NamedTupleValue):
        return list(map(as_term, value.fields.values()))
    return list(map(as_term, value.of if isinstance(value, Several) else value if type(value) is tuple else (value,)))


def _check(results: Iterable[Term], blocks: bool) -> None:
    """Raise ``Unread`` if a term depends on the length of vectors or of their blocks, or on a letter by a high
    power.
    """
    degrees: dict[int, dict[str, int]] = {}
    drawn: set[int] = set()
    for term in parts(*results):
        if term.op is Op.SIZE:
            raise Unread("it takes the root of a number that depends on the state")
        if term.op is Op.DIRECTION:
            raise Unread("it depends on a direction that is drawn")
        if term.op is Op.SIGNS:
            raise Unread("it takes the signs of coordinates")
        if term.op is Op.LARGER:
            raise Unread("it takes the larger, or the less, of two numbers")
        if term.op is Op.COUNT and term.data == "d":
            raise Unread("it depends on the dimension")
        along = term.op is Op.DRAW and Axis.COORDINATES in term.type.axes
        if along and blocks:
            raise Unread("coordinates are drawn, of which blocks have any number")
        if along or any(id(part) in drawn for part in term.of):
            if term.op in (Op.ORACLE, Op.ANSWER) or _is_noisy(term):
                # An entry of a gradient there depends on the draws of all coordinates, and not on its own alone.
                raise Unread("functions are asked at a point that depends on which coordinates are drawn")
            drawn.add(id(term))
        degrees[id(term)] = _degrees(term, [degrees[id(part)] for part in term.of])
        letter, power = max(degrees[id(term)].items(), key=lambda item: item[1], default=("", 0))
        if power > POWERS:
            raise Unread(f"it has powers of the {letter} beyond the {POWERS}th, which may vanish at every point tried")


def _check_bounds(results: Iterable[Term], instance: Instance) -> None:
    """Raise ``Unread`` if there may be no answer of an adversary, or no noise: of such a state anything is true."""

    def known(term: Term) -> bool:
        free = all(part.op in _LETTERS or part.op is Op.VIEW for part in parts(term)) and not term.type.axes
        return free and bool(comparing.evaluated(term, instance.problem, instance.params, None) >= 0)

    for term in parts(*results):
        if (term.op is Op.ANSWER or _is_noisy(term)) and not is_nonnegative(term.of[1], known):
            raise Unread(f"the bound of {term.data} is not seen to be nonnegative")


def _is_noisy(term: Term) -> bool:
    """Return True if a term is a vector with noise whose variance is bounded by an operand."""
    return term.op is Op.COMPRESSED and len(term.of) == 3


def _degrees(term: Term, of: list[dict[str, int]]) -> dict[str, int]:
    """Return the largest power of each letter in a term, numerators and denominators together."""
    if term.op in (Op.LETTER, Op.COUNT, Op.GIVEN):
        return {} if term.type.degree else {f"{term.op} {term.data}": 1}
    if term.op is Op.POWER:
        return {letter: abs(term.data) * power for letter, power in of[0].items()}
    join = sum if term.op in (Op.MULTIPLY, Op.DIVIDE) else max
    letters = {letter for powers in of for letter in powers}
    return {letter: join(powers.get(letter, 0) for powers in of) for letter in letters}
