"""Orderings seen in an experiment, on data that are at hand."""

from __future__ import annotations

from importlib import import_module

from fedtheory.kinds.experiment import Experiment
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome, Sighting, tally
from verify.methods.base import Inquiry, Method, Role

#: The stored outcomes of figures: a leaf, which no module of the trunk imports.
_FIGURES = "verify.experiments.figures"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Return the stored outcomes of the figures.

    Where a verdict is required, it is supported if everything was observed on all data that were run, and not tested
    otherwise.
    """
    statement: Experiment = inquiry.statement
    found: tuple[Sighting, ...] = import_module(_FIGURES).sightings(statement)
    ran = [one for one in found if one.seeds]
    verdict = Verdict.SUPPORTED if ran and all(one.said == "seen" for one in ran) else Verdict.NOT_TESTED
    note = "; ".join([f"an experiment: {tally(found)}", *map(str, found)])
    return method.found(verdict, note, instances=len(ran), sightings=found)


METHOD = Method(
    "experiment",
    "what a text reads off a figure, from stored runs on data",
    (Experiment,),
    run,
    role=Role.ALONE,
)
