"""Objects of claims about data: sums in index notation, which the checker adds up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fedtheory import claims
from verify import checker
from verify.export import latex, read_data
from verify.export.objects import ProofObjects, sealed

EQUAL = ("fedopt/eq-18", "fedopt/remark-3", "fedopt/fsvrg/single-node/repaired", "fedopt/cocoa/is-algorithm-6")
ORDERED = ("fedopt/sigma/sparsity", "fedopt/lower-bound-step")


@pytest.mark.parametrize("name", [*EQUAL, *ORDERED])
def test_objects_are_checked_and_read_back_from_latex(name: str) -> None:
    claim = claims.get(name)
    found = read_data.of(claim)
    assert found
    for data in found:
        checker.check(json.dumps(data))
    assert "square" in latex.checked(claim, ProofObjects.of(found))


def _tampered(data: dict[str, Any]) -> list[dict[str, Any]]:
    """An object with each weight, and each coefficient of what is known and claimed, doubled, and with what is known
    left out."""
    found = []
    for k, program in enumerate(data["programs"]):
        places = [("target", name) for name in program["target"]]
        places += [("known", n, "form", name) for n, one in enumerate(program["known"]) for name in one["form"]]
        places += [("known", n, "weight") for n, _ in enumerate(program["known"])]
        for place in places:
            copy = json.loads(json.dumps(data))
            of = copy["programs"][k]
            for part in place:
                of = of[part]
            of["num"] = [[f"-{number}".removeprefix("--"), powers] for number, powers in of["num"][:1]]
            found.append(sealed({key: value for key, value in copy.items() if key != "digest"}))
    return found


@pytest.mark.parametrize("name", ["fedopt/eq-18", *ORDERED])
def test_tampered_objects_are_rejected(name: str) -> None:
    tampered = [one for data in read_data.of(claims.get(name)) for one in _tampered(data)]
    assert tampered
    for data in tampered:
        with pytest.raises(ValueError, match=r"\S"):
            checker.check(json.dumps(data))


def test_what_loops_leave_is_explained() -> None:
    (data,) = read_data.of(claims.get("fedopt/remark-3"))
    assert any("m steps make of state.w(j)" in line for line in data["says"])
    assert any("before a step" in line for line in data["says"])


def test_what_is_not_shown_has_no_object() -> None:
    with pytest.raises(ValueError, match="do not reduce"):
        read_data.of(claims.get("fedopt/fsvrg/single-node"))
