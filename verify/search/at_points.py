"""A claim certified for a whole class at each choice of the parameters that is known to meet the hypotheses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from verify.base.faults import Unrunnable
from verify.base.verdict import Verdict
from verify.evidence.certificates import ClassCertificate, formal
from verify.evidence.record import Outcome
from verify.pep.bounding import Refused
from verify.pep.prover import DoesNotHold
from verify.reading.whole import read
from verify.search import allowed, critical, off_points, points, shrinking

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
    """Whether a claim holds on formal states; ``how``: one of ``certifying.FORMAL``."""

    def at(recipe: Recipe) -> tuple[ClassCertificate | None, str, bool]:
        found = formal(claim, how, recipe)
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
            lost.append(f"{_place(claim, recipe, error)}{error}")
            continue
        exceeded = exceeded or worse
        if certificate is not None:
            certificates.append(certificate)
        else:
            left_open.append(f"{_place(claim, recipe)}{why}")
    # A potential that does not contract says nothing against a bound that is stated of something else.
    known = not claim.statement.horizon and not lost and bool(met)
    details = {"instances": len(met), "left_open": (*left_open, *lost), "certificates": tuple(certificates)}
    if left_open or not certificates:
        what = "programs" if used == "sdp" else "choices of the parameters"
        reason = f"{len(left_open)} of {len(met)} {what} left open"
        if lost and not left_open:
            reason = lost[0]
        return found(None, f"{where}: {reason}", exceeded=exceeded if known else None, **details)
    about = points.of(claim)
    code = read(claim, claim.instances.build(certificates[0].recipe, True))
    shared = about.uncovered([c.recipe for c in certificates])
    if others is not None and shared:
        better, broken = _better(claim, at, about.better(others, shared))
        certificates += better
        details |= {"certificates": tuple(certificates), "instances": len(met) + len(better)}
        shared = about.uncovered([c.recipe for c in certificates])
        if broken or shared:
            said = f"certified at {len(certificates)} choices of the parameters, but only where {', '.join(shared)}"
            found_worse = bool(broken) if known else None
            return found(None, f"{where}: {broken or said}", exceeded=found_worse, **details)
    if others is not None:
        for threshold in about.near([c.recipe for c in certificates]):
            more, broken = _better(claim, at, about.beyond(threshold, others))
            certificates += more
            details |= {"certificates": tuple(certificates), "instances": len(met) + len(more)}
            if not more:
                said = f"certified at {len(certificates)} choices of the parameters, but at none where {threshold}"
                return found(None, f"{where}: {broken or said}", exceeded=bool(broken) if known else None, **details)
        off = off_points.look(claim, about, [c.recipe for c in certificates], code, others)
        if off.broken is not None:
            return shrinking.refuted(found, off.broken, "off the points at which it is certified")
        # What is certified where nothing is asked for is not kept: it has only to be so.
        tried = [_better(claim, at, iter(several)) for several in (*off.zeros, *((recipe,) for recipe in off.worse))]
        certificates += [one for more, _ in tried[: len(off.zeros)] for one in more]
        broken = next((broken for _, broken in tried if broken), "")
        if not (broken or off.doubt):
            for e in about.passed([c.recipe for c in certificates]):
                more, broken = _better(claim, at, about.beyond(critical.nearly(e), others))
                certificates += more
                if not more:
                    said = f"certified at {len(certificates)} choices of the parameters, but at none where {e} = 0"
                    broken = broken or said
                    break
        details |= {"certificates": tuple(certificates), "instances": len(certificates) + len(lost)}
        if broken or off.doubt:
            found_worse = any(why for _, why in tried) or None
            return found(None, f"{where}: {broken or off.doubt}", exceeded=found_worse if known else None, **details)
    if why := allowed.refused(claim, code):
        said = f"certified at {len(certificates)} choices of the parameters, which may miss where it is false: {why}"
        return found(None, f"{where}: {said}", exceeded=False if known else None, **details)
    note = whole.format(_places(about, certificates))
    if lost:
        note += f"; {len(lost)} could not be posed: {lost[0]}"
    return found(Verdict.CERTIFIED, note, exceeded=False if known else None, used=(used,), **details)


def checked(
    found: Callable[..., Outcome], claim: Claim, kind: str, stored: Sequence[ClassCertificate], whole: str, used: str
) -> Outcome:
    """Certified by stored certificates of one ``kind``, each of which is checked, if their points show enough.

    ``whole`` and ``used``: as of a :class:`Way`. ``ValueError`` says what does not hold. Nothing is solved, and nothing
    believed but the multipliers.
    """
    if not stored:
        raise DoesNotHold(f"no certificate of {claim.id} is stored")
    for certificate in stored:
        if certificate.claim != claim or certificate.method != kind:
            raise DoesNotHold(f"a certificate is of {certificate.claim.id}, by the method {certificate.method[:40]!r}")
        certificate.replay()
    about, recipes = points.of(claim), [c.recipe for c in stored]
    if shared := about.uncovered(recipes):
        raise DoesNotHold(f"{claim.id} is certified only where {', '.join(shared)}")
    if near := about.near(recipes):
        raise DoesNotHold(f"{claim.id} is certified at no choice of the parameters where {near[0]}")
    if zeros := about.passed(recipes):
        raise DoesNotHold(f"{claim.id} is certified at no choice of the parameters where {zeros[0]} = 0")
    if why := allowed.refused(claim, read(claim, claim.instances.build(recipes[0], True))):
        raise DoesNotHold(f"{claim.id} is certified at points only, which may miss where it is false: {why}")
    note = whole.format(_places(about, stored))
    return found(Verdict.CERTIFIED, note, instances=len(stored), certificates=tuple(stored), used=(used,))


def _better(claim: Claim, at: At, better: Iterator[Recipe]) -> tuple[list[ClassCertificate], str]:
    """A certificate at one of some better points, if one is found; why the claim fails at one, if it does."""
    for recipe in better:
        try:
            found, why, worse = at(recipe)
        except (ValueError, ArithmeticError):
            continue
        if worse:
            return [], f"{_place(claim, recipe)}{why}"
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
