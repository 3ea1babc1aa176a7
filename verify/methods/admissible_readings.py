"""Statements that use what is not defined, or in two ways, by their admissible readings."""

from __future__ import annotations

from fedtheory.kinds.readings import Readings
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome, strongest
from verify.methods.base import Inquiry, Method, Role, examined

#: The word for a reading, by its verdict.
_TRUE = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED)


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Ill-posed where one admissible reading is refuted and another holds; supported where all hold.

    What denies its readings is supported where all are refuted. Where a statement is supported by none of its readings,
    or one is not decided, it is not tested: the readings are claims of their own.
    """
    statement: Readings = inquiry.statement
    verdicts, findings, instances = [], [], 0
    for claim in statement.readings:
        reading = Inquiry(claim, inquiry.seed, inquiry.size, methods=inquiry.methods)
        outcomes = [o for o in examined(reading, inquiry.methods) if o.verdict is not None]
        best = strongest(outcomes)
        verdict = Verdict.NOT_TESTED if best is None or best.verdict is None else best.verdict
        example = next((o.counterexample for o in outcomes if o.counterexample is not None), None)
        where = f" at {example.text}" if example is not None else ""
        verdicts.append(verdict)
        findings.append(f"{claim.gist}: {verdict}{where}")
        instances += max((o.instances for o in outcomes), default=0)
    note = "; ".join([statement.open, *findings])
    false, true = Verdict.REFUTED in verdicts, any(v in _TRUE for v in verdicts)
    if false and true:
        return method.found(Verdict.ILL_POSED, note, instances=instances, used=("search", "rational"))
    whole = all(v is Verdict.REFUTED if statement.denied else v in _TRUE for v in verdicts)
    verdict = Verdict.SUPPORTED if whole and verdicts else Verdict.NOT_TESTED
    return method.found(verdict, note, instances=instances, used=("search",))


METHOD = Method("readings", "the admissible readings of something undefined", (Readings,), run, role=Role.ALONE)
