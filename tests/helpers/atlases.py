"""A small audit as its JSON has it, without testing anything: what pages are drawn from."""

from __future__ import annotations

from functools import cache
from typing import Any

from fedtheory import claims
from verify.evidence import formats
from verify.report.atlas import site

#: A counterexample that was found, as an audit stores it.
COUNTEREXAMPLE = {
    "claim": "feddcd/theorem-6.1/eq-10",
    "changes": {},
    "recipe": {
        "d": 1,
        "x": [{"ratio": "0"}],
        "clients": [{"h": [{"ratio": "9"}], "y": [{"ratio": "0"}]}, {"h": [{"ratio": "9"}], "y": [{"ratio": "0"}]}],
        "alpha": {"ratio": "1"},
        "beta": {"ratio": "9"},
        "scale": {"ratio": "1"},
        "tau": 2,
    },
    "point": ["0", "1"],
    "rounds": 1,
    "part": "0",
    "entry": 0,
    "left": "64/729",
    "relation": "<=",
    "right": "1/12",
    "text": "n=2, d=1, alpha=1, beta=9; state (0, 1) relative to the optimum, after 1 round",
}
#: A certificate, with the parts that pages show.
CERTIFICATE = {
    "certificate": "worst cases",
    "claim": "feddcd/theorem-6.1/eq-10/repaired",
    "changes": {},
    "recipe": {},
    "letters": {"alpha": "1/16", "beta": "1"},
    "steps": {"V <= c V": {"bound": "8/9", "multipliers": {"a": "1", "b": "2"}, "squares": ["1"]}},
    "text": "alpha=1/16, beta=1",
}


def outcome(method: str, **more: Any) -> dict[str, Any]:
    """What a method found, as an audit's JSON has it."""
    found = {"method": method, "covers": f"what {method} covers", "applied": True, "verdict": None, "margin": None}
    return {**found, "instances": 0, "note": "", "left_open": [], "certificates": [], **more}


def entry(id: str, verdict: str = "supported", **more: Any) -> dict[str, Any]:
    """A claim's entry in an audit's JSON."""
    found = {"id": id, "paper": id.split("/")[0], "where": "", "kind": "", "verdict": verdict, "margin": 0.25}
    rest = {"methods": ["search"], "instances": 12, "counterexample": None, "repaired": None, "note": "a note"}
    return {**found, **rest, "seconds": 0.1, "outcomes": [outcome("search", verdict=verdict)], **more}


def document(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An audit of these entries."""
    return {"version": "1.0", "seed": 0, "budget": "quick", **more, "claims": list(entries)}


def refuted() -> dict[str, Any]:
    """The entry of a claim that fell."""
    found = outcome("search", verdict="refuted", margin=-0.05, instances=13, note="confirmed in exact arithmetic")
    skipped = outcome("worst cases", applied=False, note="not run: refuted by the method 'search'")
    return entry(
        "feddcd/theorem-6.1/eq-10",
        "refuted",
        margin=-0.05,
        counterexample=COUNTEREXAMPLE,
        repaired="feddcd/theorem-6.1/eq-10/repaired",
        outcomes=[found, skipped],
    )


def whole() -> dict[str, Any]:
    """An audit of all claims in which one fell, one is ill-posed, and one is of somebody's own."""
    found = {claim.id: entry(claim.id) for claim in claims.all()}
    found["feddcd/theorem-6.1/eq-10"] = refuted()
    certified = outcome("worst cases", verdict="certified", certificates=[CERTIFICATE], left_open=["beta=2: too large"])
    repaired = "feddcd/theorem-6.1/eq-10/repaired"
    found[repaired] = entry(repaired, "certified", outcomes=[certified])
    found["fedopt/dane/property-b"] = entry("fedopt/dane/property-b", "ill-posed", margin=None)
    for id in ("feddcd/lemma-B.8/rate", "locodl/uplink/literal", "fedopt/fsvrg/property-b"):
        found[id] = {**refuted(), "id": id, "paper": id.split("/")[0]}
    found["mine/elsewhere"] = entry(
        "mine/elsewhere", "refuted", counterexample={**COUNTEREXAMPLE, "claim": "mine/elsewhere"}
    )
    return document(*found.values())


@cache
def pages_of_whole() -> dict[str, str]:
    """The texts of the pages of that audit by their paths, drawn once for all tests of a process."""
    return dict(site.pages(formats.checked_audit(whole())))
