"""A claim certified for a whole class at each choice of the parameters that is known to meet the hypotheses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.case import Case
from verify.base.faults import Unrunnable
from verify.base.verdict import Verdict
from verify.evidence.certificates import ClassCertificate, formal
from verify.evidence.record import Outcome
from verify.pep.bounding import Refused
from verify.search import choosing, off_points, points

#: The certificate at the parameters of a recipe or None, why there is none, and whether the class exceeds the claim.
At = Callable[[Recipe], tuple[ClassCertificate | None, str, bool]]


class Way(NamedTuple):
    """A way to certify a claim ``at`` the parameters of a recipe, of the sort ``used``.

    ``where``: of what it speaks; ``whole``: what it shows, at {} choices. Both are for notes.
    """

    at: At
    where: str
    whole: str
    used: str


def formally(how: str, claim: Claim) -> At:
    """Return a check of the claim on formal states; ``how`` is one of ``certifying.FORMAL``."""

    def at(recipe: Recipe) -> tuple[ClassCertificate | None, str, bool]:
        found = formal(Case(claim, recipe), how)
        return found, "" if found else "it is not seen on formal states, which refutes nothing", False

    return at


def at_each(
    found: Callable[..., Outcome], claim: Claim, met: Sequence[Recipe], others: int | None, way: Way
) -> Outcome:
    """Certified if at each choice of the parameters that can be posed there is a certificate, and there is one at all.

    ``found``: makes the outcome; ``met``: the choices, as recipes that meet the hypotheses; ``others``: the seed of
    further ones, which are tried where those show too little, or None. A choice that cannot be posed is lost, and no
    other; a claim that is refused at one choice is certified at none.
    """
    at, where, whole, used = way
    certificates: list[ClassCertificate] = []
    left_open: list[str] = []
    lost: list[str] = []
    exceeded = False
    for recipe in met:
        try:
            certificate, why, worse = at(recipe)
        except Refused as error:
            return found(None, f"{where}: {error}")
        except (ValueError, ArithmeticError) as error:
            lost.append(f"{_place(Case(claim, recipe), error)}{error}")
            continue
        exceeded = exceeded or worse
        if certificate is not None:
            certificates.append(certificate)
        else:
            left_open.append(f"{_place(Case(claim, recipe))}{why}")
    # A potential that does not contract says nothing against a bound that is stated of something else.
    known = not claim.statement.horizon and not lost and bool(met)
    details = {"instances": len(met), "left_open": (*left_open, *lost), "certificates": tuple(certificates)}
    if left_open or not certificates:
        what = "programs" if used == "sdp" else "choices of the parameters"
        reason = f"{len(left_open)} of {len(met)} {what} left open"
        if lost and not left_open:
            reason = lost[0]
        return found(None, f"{where}: {reason}", exceeded=exceeded if known else None, **details)
    choices = points.Choices(claim, [certificate.recipe for certificate in certificates])
    note = whole.format(choices.describe())
    if lost:
        note += f"; {len(lost)} could not be posed: {lost[0]}"
    exceeds = False if known else None
    if why := choices.uncovered():
        broken = None if others is None else off_points.look(claim, choices.recipes, choices.code, others)
        if broken is not None:
            return choosing.refuted(found, broken, "off the points at which it is certified")
        return found(None, f"{note}, but {why}", exceeded=exceeds, **details)
    return found(Verdict.CERTIFIED, note, exceeded=exceeds, used=(used,), **details)


def _place(case: Case, error: Exception | None = None) -> str:
    """The instance at which something was left open; an error of the claim's own code names it already."""
    return "" if isinstance(error, Unrunnable) else f"at {case.instance.text or case.recipe}: "
