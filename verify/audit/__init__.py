"""Audits: many claims, in parallel, with one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from fedtheory import claims
from fedtheory.claims import Claim
from verify import results
from verify.audit.sweeping import sweep
from verify.base.verdict import Verdict
from verify.evidence.record import Evidence

#: The beginning of the note of a claim whose check did not end.
FAILED = "the check itself failed"


def audit(
    selected: Sequence[Claim],
    seed: int = 0,
    budget: str = "quick",
    jobs: int = 1,
    progress: Callable[[Evidence], None] | None = None,
    rechecking: bool = False,
    running: Callable[[Sequence[str]], None] | None = None,
) -> list[Evidence]:
    """Test many registered claims, with any number of processes.

    Within :func:`verify.audit.sweeping.cluster` the workers of a cluster check, and ``jobs`` says nothing.

    Args:
        selected: The claims.
        seed: The seed of the search.
        budget: "quick" or "full".
        jobs: The number of processes.
        progress: Called with each result as it arrives.
        rechecking: True to check what the package carries of a claim, and to find only what does not hold anew;
            otherwise nothing is carried (:mod:`verify.checking`).
        running: Called with the ids of the claims that are tested whenever these change.

    Returns:
        The evidence for each claim, in the order given. A failure inside a check is reported with its claim.

    Raises:
        ValueError: For jobs < 1, or a bad seed or budget.
        ChildProcessError: If a process that checks is killed.

    Examples:
        >>> from verify.audit import audit
        >>> audit([], jobs=0)
        Traceback (most recent call last):
        ...
        ValueError: the number of jobs must be at least 1, got 0
    """
    # Loading the methods takes longer than all that comes before an audit.
    from verify.checking import check_arguments

    check_arguments(seed, budget)
    if jobs < 1:
        raise ValueError(f"the number of jobs must be at least 1, got {jobs}")
    found: dict[str, Evidence] = {}
    expected = costs(selected, rechecking)
    # Claims that follow from others, or restate them, come after these.
    for part in _layers(selected):
        known = _known(found.values())
        # The dearest first, so that several processes are done at about the same time.
        ordered = sorted(part, key=lambda claim: -expected[claim.id]) if jobs > 1 else part
        tasks = [(claim, seed, budget, known, rechecking) for claim in ordered]
        # Tasks begin in their order.
        left = [claim.id for claim in ordered]
        tell = running or (lambda ids: None)
        tell(left[:jobs])
        for evidence in sweep(_checked, tasks, jobs, ordered=False):
            found[evidence.claim.id] = evidence
            left.remove(evidence.claim.id)
            if progress is not None:
                progress(evidence)
            tell(left[:jobs])
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


#: What it costs to check what ships of a claim, as a share of what finding it cost: by the same code, where most of it
#: is not looked for again, and by other code.
_RECHECKED = {"proved": 0.15, "certified": 0.15, "refuted": 0.06, "supported": 0.45}
_CHANGED = {"proved": 0.6, "certified": 0.6, "refuted": 0.06}
#: Seconds of one processor that it took to find all that ships, about.
_ALL = 2700.0
#: The least seconds of a claim.
_LEAST = 0.1


def costs(selected: Sequence[Claim], rechecking: bool) -> dict[str, float]:
    """Seconds of one processor that each claim may take, as its shipped result was found: they are for the order in
    which claims are tested, and for its progress. Claims without stored results count as average."""
    from verify.results import digests as code

    ships = results.shipped()
    shares = {} if not rechecking else _RECHECKED if ships.checker == code.checker() else _CHANGED
    total = sum(float(entry["seconds"]) for entry in ships.entries.values())

    def cost(claim: Claim) -> float:
        entry = ships.entries.get(claim.id)
        if entry is None:
            return _ALL / len(ships.entries)
        share = shares.get(str(entry["verdict"]), 1.0)
        return max(_LEAST, share * _ALL * float(entry["seconds"]) / total)

    return {claim.id: cost(claim) for claim in selected}


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
