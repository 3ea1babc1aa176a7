"""A check finds today what the carried results say that it found: changes of the house change nothing.

After a change that is to change nothing, this compares everything but times, of all claims, on the machine on which the
results were made. On other processors the last digits of floats are others, and with them the instance that is the
smallest; what is the same there is tested by ``test_verdicts``.
"""

import json

import pytest

from fedtheory import claims
from verify import check
from verify.base.verdict import Verdict
from verify.results import RESTS_ON, shipped

ENTRIES = shipped().entries


def found(id):
    """The entry that an audit would have of the claim, without what differs from run to run."""
    # As in an audit, a claim that follows from others is checked after these.
    known = {other: Verdict(verdict) for other, verdict in shipped().verdicts.items() if other != id}
    return told(json.loads(json.dumps(check(claims.get(id), shipped().seed, shipped().budget, known=known).to_json())))


def told(entry):
    return {name: value for name, value in entry.items() if name not in ("seconds", RESTS_ON)}


@pytest.mark.slow
@pytest.mark.parametrize("id", ENTRIES)
def test_everything_is_the_same(id):
    assert found(id) == told(ENTRIES[id])
