"""A point of a domain, and none of an empty one."""

import json

import pytest

from verify import checker
from verify.export import inside
from verify.export.for_all_letters import Writing
from verify.export.objects import sealed
from verify.multipliers.domains import Domain
from verify.multipliers.ratios import polynomials

NAMES = ("x", "y")
RING = polynomials(NAMES)
X, Y = RING.gens()


def _domain(*constraints, positive=(0, 1)):
    domain = Domain(RING, frozenset(positive))
    for p, strict in constraints:
        domain = domain.with_constraint(p, strict)
    return domain


#: Bounds of both kinds, a product, on a curve, a single point, and far from 1.
ALLOWED = [
    _domain(),
    _domain((X - 1, True), (2 - X, True), (Y - X, False)),
    _domain((1 - X * Y, False), (X - 8 * Y, False)),
    _domain((X - Y, False), (Y - X, False)),
    _domain((X - 1, False), (1 - X, False), (Y - 1, False), (1 - Y, False)),
    _domain((X - 10**6, True), (1 - 10**6 * X * Y, False)),
    _domain((-X, False), positive=()),
]
#: Two bounds that exclude each other, strictly or not, and with the sign of a letter.
EMPTY = [
    _domain((X - 2, False), (1 - X, False)),
    _domain((X - 1, True), (1 - X, False)),
    _domain((X - Y, True), (Y - X, False)),
    _domain((-X, False)),
    _domain((-X - Y, False)),
    _domain((-1 - X * Y, False), positive=()),
]


@pytest.mark.parametrize("domain", ALLOWED, ids=lambda domain: str([c.poly for c in domain.constraints]))
def test_a_point_is_found_and_meets_all(domain):
    values = inside.point(domain)
    assert all(v > 0 or (v == 0 and i not in domain.positive) for i, v in enumerate(values))
    for c in domain.constraints:
        at = inside.value(c.poly, values)
        assert at > 0 or (at == 0 and not c.strict)


@pytest.mark.parametrize("domain", EMPTY, ids=lambda domain: str([c.poly for c in domain.constraints]))
def test_an_empty_domain_has_none_and_no_object(domain):
    with pytest.raises(ValueError, match="no letters are found"):
        inside.point(domain)
    with pytest.raises(ValueError, match="no letters are found"):
        Writing(domain, NAMES, (0, 1)).signs()


def test_what_is_written_is_checked():
    program = {"claimed": "0 <= 0", "target": {"1|1": "0"}, "known": [], "squares": []}
    writing = Writing(ALLOWED[1], NAMES, (0, 1))
    writing.sign(X - 1, True)
    head = {"format": checker.FORMAT, "kind": "identity", "claim": "mine", "says": [], "at": {}}
    made = sealed({**head, "programs": [program], **writing.signs()})
    assert made["domain"] and checker.check(json.dumps(made)) == made
