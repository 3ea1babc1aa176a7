"""Parts of a potential whose weights are chosen first.

Where a potential may have further parts, their multipliers are weights, of which there are many. With a weight that
programs at points allow, a new search finds what proves the inequality for just this potential.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from verify.multipliers.posing import FALLING, Posed
from verify.multipliers.proofs import CaseProof, Wrong, check
from verify.multipliers.search import Say, Search
from verify.multipliers.work import Work


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def search_parts(posed: Posed, work: Work, say: Say = lambda text: None) -> CaseProof | None:
    """Return a proof of a case with the weight of one part of the potential chosen first, or None."""
    if not any(name.startswith(FALLING) for name in posed.known):
        return None
    whole = Search(posed, work, say)
    if not whole.prepared():
        return None
    for k in (k for k in whole.keep if whole.names[k].startswith(FALLING)):
        name = whole.names[k]
        known = {other: form for other, form in posed.known.items() if other != name}
        for weight in whole.proposed(k):
            say(f"{name} = {weight}, and the rest anew")
            target = posed.target - posed.known[name] * weight
            found = Search(replace(posed, target=target, known=known), work, say).run()
            try:
                if found is not None:
                    return check(posed, {**found.multipliers, name: weight}, found.plans)
            except Wrong:
                continue
    return None
