"""A claim certified for a whole class at each choice of the parameters: what three methods share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from verify.base.faults import Unrunnable
from verify.base.verdict import Verdict
from verify.certificates import class_certificates, points
from verify.evidence.certificates import ClassCertificate
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method
from verify.pep.bounding import Refused

#: The certificate at the parameters of a recipe or None, why there is none, and whether the class exceeds the claim.
Asked = Callable[[Recipe], tuple[ClassCertificate | None, str, bool]]


def formally(method: Method, inquiry: Inquiry, how: str, where: str, whole: str, used: str) -> Outcome:
    """What holds on formal states at each choice of the parameters, or the first reason why that is not known."""

    def at(recipe: Recipe) -> tuple[ClassCertificate | None, str, bool]:
        found = class_certificates.formal(inquiry.claim, how, recipe)
        return found, "" if found else "it is not seen on formal states, which refutes nothing", False

    return at_each(method, inquiry, at, where, whole, used)


def at_each(method: Method, inquiry: Inquiry, at: Asked, where: str, whole: str, used: str) -> Outcome:
    """Certified if at each choice of the parameters that can be posed there is a certificate, and there is one at all.

    ``at(recipe)``: the certificate or None, why there is none, and whether the class exceeds the claim there. A choice
    that cannot be posed is lost, and no other; a claim that is refused at one choice is certified at none.
    """
    certificates: list[ClassCertificate] = []
    left_open: list[str] = []
    lost: list[str] = []
    exceeded = False
    for recipe in inquiry.met:
        try:
            found, why, worse = at(recipe)
        except Refused as error:
            return method.skipped(f"{where}: {error}")
        except (ValueError, ArithmeticError) as error:
            lost.append(f"{_place(inquiry.claim, recipe, error)}{error}")
            continue
        exceeded = exceeded or worse
        if found is not None:
            certificates.append(found)
        else:
            left_open.append(f"{_place(inquiry.claim, recipe)}{why}")
    # A potential that does not contract says nothing against a bound that is stated of something else.
    known = not inquiry.claim.statement.horizon and not lost and bool(inquiry.met)
    details = {"instances": len(inquiry.met), "left_open": (*left_open, *lost), "certificates": tuple(certificates)}
    if left_open or not certificates:
        what = "programs" if used == "sdp" else "choices of the parameters"
        reason = f"{len(left_open)} of {len(inquiry.met)} {what} left open"
        if lost and not left_open:
            reason = lost[0]
        return method.found(None, f"{where}: {reason}", exceeded=exceeded if known else None, **details)
    about = points.of(inquiry.claim)
    shared = about.uncovered([c.recipe for c in certificates])
    # Where the points are given it is for who gives them to say what they show.
    if shared and inquiry.given is None:
        better, broken = _better(inquiry, at, about.better(inquiry.seed))
        certificates += better
        details |= {"certificates": tuple(certificates), "instances": len(inquiry.met) + len(better)}
        shared = about.uncovered([c.recipe for c in certificates])
        if broken or shared:
            said = f"certified at {len(certificates)} choices of the parameters, but only where {', '.join(shared)}"
            found_worse = bool(broken) if known else None
            return method.found(None, f"{where}: {broken or said}", exceeded=found_worse, **details)
    for threshold in about.near([c.recipe for c in certificates]) if inquiry.given is None else ():
        more, broken = _better(inquiry, at, about.beyond(threshold, inquiry.seed))
        certificates += more
        details |= {"certificates": tuple(certificates), "instances": len(inquiry.met) + len(more)}
        if not more:
            said = f"certified at {len(certificates)} choices of the parameters, but at none where {threshold}"
            return method.found(None, f"{where}: {broken or said}", exceeded=bool(broken) if known else None, **details)
    note = whole.format(_places(about, certificates))
    if lost:
        note += f"; {len(lost)} could not be posed: {lost[0]}"
    return method.found(Verdict.CERTIFIED, note, exceeded=False if known else None, used=(used,), **details)


def _better(inquiry: Inquiry, at: Asked, better: Iterator[Recipe]) -> tuple[list[ClassCertificate], str]:
    """A certificate at one of some better points, if one is found; why the claim fails at one, if it does."""
    for recipe in better:
        try:
            found, why, worse = at(recipe)
        except (ValueError, ArithmeticError):
            continue
        if worse:
            return [], f"{_place(inquiry.claim, recipe)}{why}"
        if found is not None:
            return [found], ""
    return [], ""


def _places(about: points.Points, certificates: Sequence[ClassCertificate]) -> str:
    """At how many points there are certificates, and the least degenerate of them."""
    recipes = [c.recipe for c in certificates]
    count = len({about.place(recipe) for recipe in recipes})
    named = points.told(about.claim, min(recipes, key=lambda recipe: len(about.degeneracies(recipe))))
    if count == 1:
        return "one choice of the parameters" + (f", {named}" if named else "")
    return f"{count} choices of the parameters" + (f", among them {named}" if named else "")


def _place(claim: Claim, recipe: Recipe, error: Exception | None = None) -> str:
    """At which instance something was left open; an error of the claim's own code names it already."""
    return "" if isinstance(error, Unrunnable) else f"at {claim.instances.build(recipe, True).text or recipe}: "
