"""Orderings seen in an experiment, on data that are at hand."""

from __future__ import annotations

from fedtheory.kinds.experiment import Experiment
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.evidence.sightings import tally
from verify.experiments.deciding import Outcome as Seen
from verify.experiments.stored import sightings
from verify.methods.base import Inquiry, Method, Role


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Supported where all orderings are seen; else not tested, with those that are and those that are not."""
    statement: Experiment = inquiry.statement
    if statement.run is None:
        return _stored(method, statement)
    found = statement.run(inquiry.seed)
    if not found:
        return method.found(Verdict.NOT_TESTED, f"not run: {statement.data}")
    words = {None: "not decided", True: "seen", False: "NOT seen"}
    told = [f"{s.text}: {words[s.seen]} ({s.numbers})" for s in found]
    note = "; ".join([f"on {statement.data}", *told])
    verdict = Verdict.SUPPORTED if all(s.seen for s in found) else Verdict.NOT_TESTED
    return method.found(verdict, note, instances=len(found), used=("search",))


def _stored(method: Method, statement: Experiment) -> Outcome:
    """What the package carries of the figures. It is no verdict; where it has to be one, it is supported where all is
    seen on all data that there are, and else not tested."""
    found = sightings(statement)
    ran = [one for one in found if one.seeds]
    verdict = Verdict.SUPPORTED if ran and all(one.said == Seen.SEEN for one in ran) else Verdict.NOT_TESTED
    note = "; ".join([f"an experiment: {tally(found)}", *map(str, found)])
    return method.found(verdict, note, instances=len(ran), sightings=found)


METHOD = Method(
    "experiment",
    "orderings seen in an experiment, on data that are at hand",
    (Experiment,),
    run,
    role=Role.ALONE,
)
