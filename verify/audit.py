"""Audits: many claims, in parallel, with one seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from fedtheory import claims
from fedtheory.claims import Claim
from verify import results
from verify.base.sweeping import sweep
from verify.base.verdict import Verdict
from verify.evidence.record import Evidence

#: How the note begins of a claim whose check did not come to an end.
FAILED = "the check itself failed"


def audit(
    selected: Sequence[Claim],
    seed: int = 0,
    budget: str = "quick",
    jobs: int = 1,
    progress: Callable[[Evidence], None] | None = None,
    rechecking: bool = False,
) -> list[Evidence]:
    """The evidence for each registered claim, in the order given, for any number of ``jobs``.

    ``rechecking``: what the package carries of a claim is checked, and only what does not hold is found anew; without
    it nothing is carried (:mod:`verify.checking`).
    ``progress`` is called with each result as it arrives. ``ValueError`` for jobs < 1 or a bad seed or budget.
    ``ChildProcessError`` when a process that checks is killed. Within :func:`verify.base.sweeping.cluster` the workers
    of a cluster check, and ``jobs`` says nothing.
    """
    # Loading the methods takes longer than all that comes before an audit.
    from verify.checking import check_arguments

    check_arguments(seed, budget)
    if jobs < 1:
        raise ValueError(f"the number of jobs must be at least 1, got {jobs}")
    found: dict[str, Evidence] = {}
    # What follows from others comes after them, and so does what restates others.
    for part in _layers(selected):
        known = _known(found.values())
        # The dearest first, so that several processes are done at about the same time.
        ordered = sorted(part, key=_cheapness) if jobs > 1 else part
        tasks = [(claim, seed, budget, known, rechecking) for claim in ordered]
        for evidence in sweep(_checked, tasks, jobs, ordered=False):
            found[evidence.claim.id] = evidence
            if progress is not None:
                progress(evidence)
    return [found[claim.id] for claim in selected]


def _layers(selected: Sequence[Claim]) -> list[list[Claim]]:
    """The claims in parts such that those on which one rests are in parts before its own, where they are selected."""

    def depth(claim: Claim) -> int:
        on = (given for given in claim.given if given in ids)
        return max((1 + depths[given] for given in on), default=int(bool(claim.follows)))

    ids, depths = {claim.id: claim for claim in selected}, dict.fromkeys((claim.id for claim in selected), 0)
    # No claim is given itself, so that a path has no more claims than there are.
    for _ in selected:
        deeper = {claim.id: depth(claim) for claim in selected}
        if deeper == depths:
            break
        depths = deeper
    return [[claim for claim in selected if depths[claim.id] == level] for level in sorted(set(depths.values()))]


def _cheapness(claim: Claim) -> float:
    """Minus the seconds that the claim took when its shipped result was found; nothing is known of others."""
    entry = results.shipped().entries.get(claim.id)
    return -math.inf if entry is None else -float(entry["seconds"])


def _known(found: Iterable[Evidence]) -> dict[str, Verdict]:
    """The verdicts of those registered claims whose check came to an end."""
    registered = {claim.id: claim for claim in claims.all()}
    ended = [e for e in found if not e.note.startswith(FAILED)]
    return {e.claim.id: e.verdict for e in ended if e.claim == registered.get(e.claim.id)}


def _checked(claim: Claim, seed: int, budget: str, known: Mapping[str, Verdict], rechecking: bool) -> Evidence:
    """The evidence; a failure inside the check is reported with its claim and does not lose the others' results."""
    from verify.checking import check

    try:
        carried = results.carried(claim) if rechecking else None
        return check(claim, seed, budget, known=known, carried=carried)
    except Exception as error:
        note = f"{FAILED}: {type(error).__name__}: {error}"
        return Evidence(claim, Verdict.NOT_TESTED, None, (), 0, note=note)
