"""A check finds today what the carried results say that it found: changes of the house change no verdict.

After a change that is to change nothing, the slow test compares everything but times, of all claims, on the machine on
which the results were made. On other processors the last digits of floats are others, and with them the instance
that is the smallest.
"""

import json
import math

import pytest

from fedtheory import claims
from verify import check
from verify.base.verdict import Verdict
from verify.evidence.record import STRENGTH
from verify.results import RESTS_ON, shipped

ENTRIES = shipped().entries
#: A claim of each kind of statement, that which is checked soonest; none of a kind that takes long.
QUICK = sorted(((e["seconds"], id) for id, e in ENTRIES.items() if e["seconds"] < 5), reverse=True)
SOONEST = {claims.get(id).statement.kind: id for _, id in QUICK}


def found(id):
    """The entry that an audit would have of the claim, without what differs from run to run."""
    # As in an audit, a claim that follows from others is checked after these.
    known = {other: Verdict(verdict) for other, verdict in shipped().verdicts.items() if other != id}
    return told(json.loads(json.dumps(check(claims.get(id), shipped().seed, shipped().budget, known=known).to_json())))


def told(entry):
    return {name: value for name, value in entry.items() if name not in ("seconds", RESTS_ON)}


@pytest.mark.parametrize("kind", sorted(SOONEST))
def test_the_verdict_is_the_same_on_any_processor(kind):
    now, then = found(SOONEST[kind]), ENTRIES[SOONEST[kind]]
    # What holds may be shown by more than when the results were made.
    sure = [str(verdict) for verdict in STRENGTH if verdict in (Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED)]
    assert now["verdict"] == then["verdict"] or now["verdict"] in sure[: sure.index(then["verdict"])]
    assert now["margin"] == then["margin"] or math.isclose(now["margin"], then["margin"], rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("id", ENTRIES)
def test_everything_is_the_same(id):
    assert found(id) == told(ENTRIES[id])
