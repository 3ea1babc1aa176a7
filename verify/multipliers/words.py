"""The meanings of names in inequalities that are shown client by client, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fedtheory.claims import Claim
from verify.multipliers.clients import CONJUGATE, SHARED, ClientsAt, GenericClients
from verify.reading.claimed import CodePath
from verify.reading.generic_client import evaluated
from verify.reading.terms import Op
from verify.reading.values import Condition
from verify.reading.worlds import WorldValue


def in_words(value: WorldValue) -> str:
    """A value as a sum of products."""
    return " + ".join(_product(c, (*sorted(draws), *(a.name for a in atoms))) for (draws, atoms), c in value.of.items())


def class_in_words(function: str, low: WorldValue, high: WorldValue, a: Any, b: Any) -> str:
    """An inequality that holds between two points of a function of which the curvatures are bounded."""
    bounds = f"[{in_words(low) or '0'}, {in_words(high)}]"
    what = {CONJUGATE: "the client's conjugate", SHARED: "g"}.get(function, "the client's function")
    return f"{what} has curvatures in {bounds}: between ({in_words(a)}) and ({in_words(b)})"


def setting_in_words(claim: Claim, name: str) -> str:
    """Return the text for what the setting states to be at most 0 in all states."""
    says = claim.setting.hints.known.__doc__ if claim.setting.hints.known is not None else None
    return f"{name}, of what the setting says is at most 0: {' '.join((says or claim.setting.text).split())}"


def sum_in_words(value: WorldValue, row: str) -> str:
    """A vector that is zero once it is summed over the clients, in an inner product with one that all share."""
    return f"summed over the clients this is zero: <{in_words(value)}, {row}>"


def meanings(clients: GenericClients, case: CodePath, out: Iterable[str]) -> Iterator[str]:
    """Yield the conditions on the letters in a case; the meanings of names of functions at points, and of sums and
    their quotients; and the vectors whose position changes nothing.
    """
    for condition, answer in case.conditions:
        yield f"in this case it is {'' if answer else 'not '}so that {_condition(clients, condition)}"
    first: dict[str, ClientsAt] = {}
    for (function, _), asked in clients.asked.items():
        start = first.setdefault(function, asked)
        for name in sorted(asked.atoms) if asked is not start else ():
            if name.startswith(f"{function}("):
                here, there = (in_words(of.point) or "0" for of in (asked, start))
                whose = "" if function == SHARED else "the client's "
                yield f"{name}, grad {name}: of {whose}{function} at ({here}), less its tangent at ({there})"
    for name, total in clients.totals.items():
        yield f"{name} = {in_words(total)}"
    for name, value in clients.relations.items():
        yield f"{name}: 0 = {in_words(value)}"
    for name, symbol in clients.world.sums.items():
        yield f"{symbol} = {_plain(name)}"
    if out:
        yield f"nothing changes where all vectors move alike, so that of these some are 0: {', '.join(sorted(out))}"


def _condition(clients: GenericClients, condition: Any) -> str:
    if not isinstance(condition, Condition):
        return str(condition).lower()
    if condition.by == "not":
        return f"not ({_condition(clients, condition.of[0])})"
    if condition.by in ("and", "or"):
        return f" {condition.by} ".join(f"({_condition(clients, part)})" for part in condition.of)
    left, right = (in_words(side) or "0" for side in evaluated(clients.world, condition.of))
    return f"{left} {condition.by} {right}"


def _product(c: Any, factors: tuple[str, ...]) -> str:
    number = str(c)
    shown = f"({number})" if " + " in number or " - " in number else number
    return _plain(" ".join(factors if number == "1" and factors else (shown, *factors)))


def _plain(name: str) -> str:
    """A name without what kind of letters it has."""
    for kind in (Op.LETTER, Op.GIVEN):
        name = name.replace(f"{kind} ", "")
    return name
