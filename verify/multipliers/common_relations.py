"""Relations of sums over the clients alone: each has one multiplier in the proofs of all sorts of clients."""

from __future__ import annotations

from collections.abc import Mapping

from verify.multipliers.inequalities import ComparisonProof
from verify.multipliers.posing import Posed
from verify.multipliers.proofs import Tree, Wrong, leaves
from verify.multipliers.ratios import Ratio


def agreed(group: ComparisonProof, trees: Mapping[str, Tree]) -> None:
    """Raise ``Wrong`` if proofs of the parts of a group do not make one.

    That is so if something linked has two multipliers, or one that depends on what a client has of its own.
    """
    if set(trees) != set(group.parts):
        raise Wrong("some kind of clients has no proof")
    found: dict[str, str] = {}
    for name, tree in trees.items():
        for proof in leaves(tree):
            for link, c in nets(group, proof.posed, proof.multipliers).items():
                if group.own & c.letters():
                    raise Wrong(f"the multiplier of {link} is each client's own")
                if found.setdefault(link, c.key) != c.key:
                    raise Wrong(f"{link} has two multipliers: {name}")


def nets(group: ComparisonProof, posed: Posed, multipliers: Mapping[str, Ratio]) -> dict[str, Ratio]:
    """The multipliers of all that is linked, by links."""
    found = {link: posed.zero for link, _ in group.linked.values()}
    for name, c in multipliers.items():
        if name in group.linked:
            link, sign = group.linked[name]
            found[link] = found[link] + c * sign
    return found
