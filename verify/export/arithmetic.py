"""Counterexamples as arithmetic: the operations by which a claim's own code comes from an instance to both sides.

The code is run on fractions that know how they were made. What is left out are the choices that it makes on the way: a
maximum is the number that it was.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.numbers.quotients import Quotient
from verify import checker
from verify.base.case import Case
from verify.comparisons import exact, orders, samplers
from verify.evidence.counterexamples import Counterexample
from verify.export.objects import sealed
from verify.report import statement

#: Steps of a calculation that is still written.
LONGEST = 20_000
_SIDES = ("left", "right")
#: The relation that is compared in place of one that fails, and True if its sides are exchanged.
_FAILS = {"==": ("!=", False), "<=": ("<", True), "<": ("<=", True)}


class Followed(Quotient):
    """A fraction that knows how it was made: ``by`` is a name, or an operation with what it was applied to."""

    __slots__ = ("by",)
    #: That arrays of fractions take it as it is.
    exact = True
    by: tuple[Any, ...]

    def __add__(self, other: Any) -> Any:
        return _made("+", self, other, Quotient.__add__)

    def __radd__(self, other: Any) -> Any:
        return _made("+", other, self, Quotient.__add__)

    def __sub__(self, other: Any) -> Any:
        return _made("-", self, other, Quotient.__sub__)

    def __rsub__(self, other: Any) -> Any:
        return _made("-", other, self, Quotient.__sub__)

    def __mul__(self, other: Any) -> Any:
        return _made("*", self, other, Quotient.__mul__)

    def __rmul__(self, other: Any) -> Any:
        return _made("*", other, self, Quotient.__mul__)

    def __truediv__(self, other: Any) -> Any:
        return _made("/", self, other, Quotient.__truediv__)

    def __rtruediv__(self, other: Any) -> Any:
        return _made("/", other, self, Quotient.__truediv__)

    def __neg__(self) -> Any:
        return 0 - self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int | np.integer):
            return Quotient.__pow__(Quotient(Fraction(self)), exponent)
        if exponent < 0:
            return 1 / self ** (-exponent)
        found: Any = Quotient(1)
        for _ in range(int(exponent)):
            found = found * self
        return found


def _made(symbol: str, a: Any, b: Any, operation: Callable[[Any, Any], Any]) -> Any:
    plain = [Quotient(Fraction(v)) if isinstance(v, Rational) else v for v in (a, b)]
    value = operation(*plain) if isinstance(plain[0], Quotient) else NotImplemented
    if not isinstance(value, Fraction):
        # An interval, or what others have to say of the operation: how it was made is lost.
        return value
    return _followed(value, (symbol, a, b))


def _followed(value: Fraction, by: tuple[Any, ...]) -> Followed:
    made = object.__new__(Followed)
    made._numerator, made._denominator = value.numerator, value.denominator
    made.by = by
    return made


def leaf(value: Fraction, name: str) -> Followed:
    """A fraction that is given, by name."""
    return _followed(value, (name,))


def named(thing: Any, name: str) -> Any:
    """The same problem, parameters or state, with fractions that know where in it they stand."""
    if isinstance(thing, Fraction):
        return _followed(thing, (name,))
    if isinstance(thing, np.ndarray) and thing.dtype == object:
        out = np.empty(thing.shape, dtype=object)
        for index in np.ndindex(thing.shape):
            out[index] = named(thing[index], f"{name}[{', '.join(map(str, index))}]" if index else name)
        return out
    if isinstance(thing, dict):
        return {key: named(part, f"{name} {key}") for key, part in thing.items()}
    if isinstance(thing, tuple):
        parts = getattr(thing, "_fields", range(len(thing)))
        found = [named(part, f"{name}.{k}" if name else str(k)) for k, part in zip(parts, thing, strict=True)]
        return type(thing)(*found) if hasattr(thing, "_fields") else tuple(found)
    if is_dataclass(thing) and not isinstance(thing, type):
        known, twin = {field.name for field in fields(thing)}, copy.copy(thing)
        # Cached results of the other are dropped.
        for cached in set(getattr(twin, "__dict__", {})) - known:
            twin.__dict__.pop(cached)
        for part in known:
            object.__setattr__(twin, part, named(getattr(thing, part), f"{name}.{part}" if name else part))
        return twin
    return thing


def of(claim: Claim, example: Counterexample) -> dict[str, Any] | None:
    """The object of a counterexample in fractions; None where its sides are no arithmetic of what it is given.

    ``claim``: the claim that the object states, possibly that the counterexample's claim fails.
    """
    sides = _sides(example)
    if sides is None or sides != (example.left, example.right):
        return None
    relation, exchanged = _FAILS[example.relation]
    names = ("right", "left") if exchanged else ("left", "right")
    found = proof_object(claim, example, dict(zip(_SIDES, sides, strict=True)), {}, (relation, *names))
    # Where a number is all that is left of a side, nothing is calculated: two steps give the sides their names.
    made = sum(by in ("+", "-", "*", "/") for _, by, *_ in found["steps"]) if found else 0
    return found if made > len(sides) else None


def proof_object(
    claim: Claim,
    example: Counterexample,
    sides: Mapping[str, Any],
    known: Mapping[str, tuple[str, Any, Any]],
    apart: Sequence[str],
) -> dict[str, Any] | None:
    """The object of two numbers, or bounds of them, that know how they were made; None where it takes too many steps.

    ``known``: what else is compared, by names; ``apart``: how the sides compare in the end.
    """
    others = {
        f"{name}, {of}": number for name, (_, *both) in known.items() for of, number in zip(_SIDES, both, strict=True)
    }
    steps = list(_steps({**others, **sides}))
    if len(steps) > LONGEST:
        return None
    steps += [[name, relation, *(f"{name}, {side}" for side in _SIDES)] for name, (relation, *_) in known.items()]
    for side, value in sides.items():
        steps += [
            [f"{side} as stated", str(Fraction(value))],
            [f"{side} is as stated", "==", side, f"{side} as stated"],
        ]
    steps.append(["the claim fails", *apart])
    here = f"at {example.place()}; after so many rounds: {example.rounds}"
    return sealed(
        {
            "format": checker.FORMAT,
            "kind": "arithmetic",
            "claim": claim.id,
            "says": [*statement.text(claim), here, f"there it says that left {example.relation} right"],
            "at": {step[0]: step[1] for step in steps if len(step) == 2 and step[0] != step[1]},
            "steps": steps,
        }
    )


def _sides(example: Counterexample) -> tuple[Any, Any] | None:
    """Both sides, which know how they were made; None where they are not found by arithmetic."""
    claim, part = example.claim, example.part
    if not all(isinstance(side, Fraction) for side in (example.left, example.right)):
        return None
    if part.startswith((samplers.PREFIX, orders.PREFIX)):
        return None
    case = Case.of(claim, followed_instance(example.case.instance))
    try:
        for found in exact.parts(case, example.point, example.rounds):
            if found.name == part:
                left, right = found.left[example.entry], found.right[example.entry]
                return _exactly(left), _exactly(right)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None
    return None


def _exactly(side: Any) -> Any:
    return Quotient(int(side)) if isinstance(side, int | np.integer) else side


def followed_instance(instance: Instance) -> Instance:
    """The same instance, of numbers that know where in it they stand."""

    def start(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda theta: tuple(named(thing, name) for thing, name in zip(of(theta), ("", "state"), strict=True))

    return replace(
        instance,
        problem=named(instance.problem, ""),
        params=named(instance.params, "parameters"),
        at=start(instance.at),
        initial=None if instance.initial is None else start(instance.initial),
    )


def _steps(results: dict[str, Any]) -> Iterator[list[str]]:
    """The steps by which numbers were made, each after those that it uses; the results by their names at last."""
    names: dict[tuple[Any, ...], str] = {}
    of_number: dict[int, str] = {}
    taken: set[str] = set(results)
    count = 0

    def free(name: str) -> str:
        plain, k = name, 1
        while name in taken:
            k += 1
            name = f"{plain} ({k})"
        taken.add(name)
        return name

    def leaf(number: Any) -> Iterator[list[str]]:
        value = str(Fraction(number))
        source = number.by[0] if isinstance(number, Followed) else value
        if (source, value) not in names:
            names[source, value] = free(source)
            yield [names[source, value], value]
        of_number[id(number)] = names[source, value]

    zero = Quotient(0)
    for result, final in results.items():
        waiting = [final]
        while waiting:
            number = waiting[-1]
            if id(number) in of_number:
                waiting.pop()
            elif not isinstance(number, Followed) or len(number.by) == 1:
                yield from leaf(number)
            elif missing := [v for v in number.by[1:] if id(v) not in of_number]:
                waiting += missing
            else:
                key = (number.by[0], *(of_number[id(v)] for v in number.by[1:]))
                if key not in names:
                    count += 1
                    names[key] = free(f"t{count}")
                    yield [names[key], *key]
                of_number[id(number)] = names[key]
        yield from leaf(zero)
        yield [result, "+", of_number[id(final)], of_number[id(zero)]]
