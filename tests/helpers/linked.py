"""Whether a claim is shown client by client, for all letters."""

from itertools import islice

import numpy as np

from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
from verify.multipliers.work import CLIENTS
from verify.search import hunting


def shown(claim, work=CLIENTS):
    """Whether multipliers are found for a claim, at 40 of its proposed instances; False where code is not read."""
    instances = [i for _, i in meeting(claim, islice(claim.instances.recipes(hunting.generator(claim, 0)), 40))]
    try:
        return not isinstance(client_proofs.prove(claim, instances, np.random.default_rng(0), work), str)
    except ValueError:
        return False
