"""The meanings of names in inequalities that are shown client by client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fedtheory.claims import Claim
from verify.multipliers.clients import SHARED, ClientsAt, GenericClients
from verify.multipliers.reasons import (
    ClientSum,
    Combined,
    Comparison,
    InCase,
    OfSetting,
    Reason,
    Relation,
    Shifted,
    SumLetter,
    Tangent,
    Total,
)
from verify.reading.claimed import CodePath
from verify.reading.generic_client import evaluated
from verify.reading.values import Condition
from verify.reading.worlds import WorldValue


def of_setting(claim: Claim, name: str) -> OfSetting:
    """Return the statement of the setting on what is at most 0 in all states, in the words of its author."""
    says = claim.setting.hints.known.__doc__ if claim.setting.hints.known is not None else None
    return OfSetting(name, " ".join((says or claim.setting.text).split()))


def meanings(clients: GenericClients, case: CodePath, out: Iterable[str]) -> Iterator[Reason]:
    """Yield the conditions on the letters in a case; the meanings of names of functions at points, and of sums and
    their quotients; and the vectors whose position changes nothing.
    """
    for condition, answer in case.conditions:
        yield InCase(_condition(clients, condition), answer)
    first: dict[str, ClientsAt] = {}
    for (function, _), asked in clients.asked.items():
        start = first.setdefault(function, asked)
        for name in sorted(asked.atoms) if asked is not start else ():
            if name.startswith(f"{function}("):
                yield Tangent(name, function, function != SHARED, asked.point, start.point)
    for name, total in clients.totals.items():
        yield Total(name, total, _sums(clients, total))
    for name, value in clients.relations.items():
        yield Relation(name, value, _sums(clients, value))
    for name, symbol in clients.world.sums.items():
        yield SumLetter(str(symbol), _sum(clients, name))
    if out:
        yield Shifted(tuple(sorted(out)))


def _sums(clients: GenericClients, value: WorldValue) -> dict[str, ClientSum]:
    """The sums over the clients that stand in a vector, by name."""
    names = (atom.name for _, atoms in value.of for atom in atoms)
    return {name: _sum(clients, name) for name in names if clients.world.meaning.get(name, ("",))[0] == "sum"}


def _sum(clients: GenericClients, name: str) -> ClientSum:
    _, letters, masks, vectors = clients.world.meaning[name]
    return ClientSum(name, letters, masks, vectors)


def _condition(clients: GenericClients, condition: Any) -> Comparison | Combined | str:
    if not isinstance(condition, Condition):
        return str(condition).lower()
    if condition.by in ("not", "and", "or"):
        return Combined(condition.by, tuple(_condition(clients, part) for part in condition.of))
    left, right = evaluated(clients.world, condition.of)
    return Comparison(condition.by, left, right)
