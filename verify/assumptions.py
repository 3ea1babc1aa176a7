"""What a verdict rests on and nothing here checks, in words: it stands beside the evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import MethodType

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.verdict import Verdict
from verify.comparisons import asserted

#: Verdicts that say that a claim holds.
HOLDS = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED)
#: Ways of working on states that are no numbers.
_FORMAL = {"sdp", "formal", "symbolic", "derivation"}
#: Where the classes are whose members are checked by tests of this package.
_CLASSES = "fedtheory.classes"


def assumed(claim: Claim, verdict: Verdict, used: Collection[str], met: Collection[Recipe] = ()) -> tuple[str, ...]:
    """What the verdict takes from the author of a claim as it is.

    ``used``: the ways in which it was found; ``met``: recipes of some instances that meet the hypotheses.
    """
    if verdict in (Verdict.ILL_POSED, Verdict.NOT_TESTED):
        return ()
    holds = _of_what_holds(claim, used, met) if verdict in HOLDS else ()
    return tuple(dict.fromkeys((*_of_hypotheses(claim), *holds)))


def _of_hypotheses(claim: Claim) -> Iterator[str]:
    for hypothesis in claim.requires:
        if hypothesis.met is not None and not _is_ours(hypothesis):
            yield f"the code of the hypothesis {hypothesis.text!r}, which chose the instances, says what its text does"


def _is_ours(hypothesis: Hypothesis) -> bool:
    """Whether a hypothesis is what a class of this package says of its own members."""
    of = hypothesis.met.__self__ if isinstance(hypothesis.met, MethodType) else None
    return type(of).__module__.startswith(_CLASSES) and hypothesis.states_membership((of,))


def _of_what_holds(claim: Claim, used: Collection[str], met: Collection[Recipe]) -> Iterator[str]:
    setting, formal = claim.setting, bool(_FORMAL & set(used))
    for part in setting.classes:
        if not type(part).__module__.startswith(_CLASSES):
            yield f"all that is posed of the class {type(part).__name__} holds of its members"
    if "derivation" in used:
        for hypothesis in claim.requires:
            for meaning in hypothesis.says:
                yield f"along runs, {hypothesis.text!r} means that {meaning.words}"
    if setting.hints.known is not None and formal:
        yield "what the setting says is known of states holds of formal vectors"
    by_hand = setting.drawing.special is not None and not claim.statement.of_compressor
    if by_hand and not (met and all(asserted.reaches(claim.instances.build(recipe, True)) for recipe in met)):
        yield "the states of its instances, made by hand, are all of which it speaks"
    if setting.hints.complete and formal:
        yield "the statement depends on nothing but the parameters and states of its setting"
    domains = [str(q.expression) for q in getattr(claim.statement, "quantities", ()) if q.domain is not None]
    if domains and formal:
        yield f"{', '.join(domains)} is finite wherever its residuals vanish"
