"""Objects of identities that are read off code: the sums that both sides are, which cancel once multiplied out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fedtheory.claims import Claim
from verify import checker
from verify.as_read import proving
from verify.export.instances import examples
from verify.export.objects import sealed
from verify.reading.worlds import ONE, Monomial, World, WorldValue
from verify.report import statement
from verify.search import hunting

_OF_INVARIANTS = "left is the residual after a step, right what it was before it, times a number"
_OF_WHAT_STAYS = (
    "left is what is observed after a step, right what it was before it; at x* the gradients of the f_i are the y*_i, "
    "of sum zero"
)
_SAYS = (
    "read off the code, for every n and d: both sides are sums of the products below, with polynomials in the letters "
    "before them once they are multiplied by what they are divided by, which the hypotheses say is not 0. No sign of a "
    "letter is needed. That the code computes these sums is not shown here"
)


def of(claim: Claim) -> list[dict[str, Any]]:
    """An object for each case of a claim, with an identity for each comparison. Raise ``ValueError`` if it has none."""
    instances = examples(claim, hunting.generator(claim, 0))
    found = []
    for number, case in enumerate(proving.read(claim, instances), 1):
        if why := proving.unshown(claim, case):
            raise ValueError(why)
        world, pairs = proving.sides(claim, case)
        if not all((left - right).is_zero() for left, right in pairs):
            raise ValueError("its sides are ordered by z3, which leaves no identity")
        if pairs:
            found.append(_object(claim, f"{number}", pairs, world))
    return found


def _object(claim: Claim, case: str, pairs: Sequence[tuple[WorldValue, WorldValue]], world: World) -> dict[str, Any]:
    coefficients = [c for pair in pairs for side in pair for c in side.of.values()]
    polynomials = [p for c in coefficients for p in (c.numer, c.denom)]
    used = sorted({k for p in polynomials for powers in p for k, power in enumerate(powers) if power})
    met = {product for pair in pairs for side in pair for product in side.of} - {ONE}
    products = {product: f"v{k}" for k, product in enumerate(sorted(met, key=str), 1)}
    letters = [str(world.field.symbols[k]) for k in used]
    meant = {
        **{name: _product_words(product) for product, name in products.items()},
        **{str(s): of for of, s in world.sums.items()},
    }
    of_steps = ((_OF_INVARIANTS, claim.statement.residual), (_OF_WHAT_STAYS, claim.statement.observed))
    says = [*statement.text(claim), *(sides for sides, of in of_steps if of is not None), _SAYS]
    return sealed(
        {
            "format": checker.FORMAT,
            "kind": "identity",
            "claim": claim.id,
            "says": [
                *says,
                *(f"{name} is {of}" for name, of in meant.items() if name in {*products.values(), *letters}),
            ],
            "at": {"case": case},
            "letters": dict.fromkeys(letters, ">= 0"),
            "domain": {},
            "point": dict.fromkeys(letters, "1"),
            "nonzero": [],
            "programs": [
                {
                    "claimed": f"comparison {k}: the target, left - right, is 0",
                    "target": dict(_target(pair, {ONE: "1|1", **products}, used)),
                    "known": [],
                    "squares": [],
                }
                for k, pair in enumerate(pairs, 1)
            ],
        }
    )


def _target(
    pair: tuple[WorldValue, WorldValue], names: dict[Monomial, str], used: Sequence[int]
) -> Iterator[tuple[str, Any]]:
    """Yield the coefficient of each product on the left, minus that on the right."""
    left, right = (side.of for side in pair)
    for product in dict.fromkeys([*left, *right]):
        both = [(of[product], sign) for of, sign in ((left, 1), (right, -1)) if product in of]
        below = both[0][0].denom
        for c, _ in both[1:]:
            below = below.lcm(c.denom)
        terms = [
            [str(sign * number), [monomial[k] for k in used]]
            for c, sign in both
            for monomial, number in (c.numer * below.exquo(c.denom)).terms()
        ]
        yield names[product], {"num": terms, "den": [["1", [0] * len(used)]]}


def _product_words(product: Monomial) -> str:
    draws, atoms = product
    return " times ".join([*sorted(draws), *(atom.name for atom in atoms)])
