"""Objects of inequalities that are proved client by client: what every client adds is at most 0, in each situation.

What is known only of sums over all clients is "shared": it has one weight in all programs of an object, without letters
of a client's own, so that it falls out where all that is added is summed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from fedtheory.claims import Claim
from verify.base.evaluate import meeting
from verify.export import letters
from verify.methods import client_by_client
from verify.methods.base import Inquiry, seen
from verify.multipliers import linking
from verify.multipliers.inequalities import Group
from verify.multipliers.proofs import Proof, Tree, leaves
from verify.report import statement
from verify.search import hunting

#: Instances at which code is seen, and of how many that are drawn.
_INSTANCES, _DRAWN = 5, 60
_SUMMED = (
    "left - right is a sum over the clients of what each adds, times what is positive: each program shows of one sort "
    "of clients that this is at most 0, and what is shared is at most 0 once it is summed over all"
)


def of(claim: Claim) -> list[dict[str, Any]]:
    """An object for each comparison of a claim in each of its cases. ``ValueError`` says what stands in the way."""
    rng = hunting.generator(claim, 0)
    recipes = meeting(claim, islice(claim.instances.recipes(rng), _DRAWN))
    given = tuple(recipe for recipe, _ in islice(recipes, _INSTANCES))
    shown = linking.shown(claim, seen(Inquiry(claim, given=given)), rng, client_by_client.SECONDS)
    if isinstance(shown, str):
        raise ValueError(shown)
    return [_object(claim, group, proofs) for group, trees in shown for proofs in _alike(group, trees)]


def _alike(group: Group, trees: Mapping[str, Tree]) -> Iterator[dict[str, Proof]]:
    """The proofs of all sorts of clients. ``ValueError`` where they are not about the same letters."""
    found = {name: [*leaves(tree)] for name, tree in trees.items()}
    proofs = {name if len(of) == 1 else f"{name}, part {k}": p for name, of in found.items() for k, p in enumerate(of)}
    domains = {(p.posed.names, *map(str, p.posed.domain.constraints), p.posed.domain.positive) for p in proofs.values()}
    if len(domains) == 1:
        yield proofs
    elif group.linked:
        raise ValueError("what is linked is shown for letters that are not allowed alike")
    else:
        yield from ({name: proof} for name, proof in proofs.items())


def _object(claim: Claim, group: Group, proofs: Mapping[str, Proof]) -> dict[str, Any]:
    says = [*statement.text(claim), _SUMMED, *group.meanings]
    return letters.of_proofs(claim.id, says, group.name, proofs, group.own, group.linked)
