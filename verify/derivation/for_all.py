"""Derive statements that follow from others for all letters and any number of clients, using one generic client.

Each client has the same inequalities, in letters of its own, so a derivation for one client is valid for all. The
conditions that the rules place on coefficients must follow from what is assumed of the letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.settings import Setting
from fedtheory.settings.iterations import Iteration
from verify.base.evaluate import meeting
from verify.derivation import facts, obligations, rules
from verify.derivation.obligations import Premise
from verify.derivation.rules import RuleUse
from verify.exact import symbolic
from verify.multipliers import client_proofs
from verify.reading import theory, whole

#: The client about which everything is derived.
_ANY = 0
#: Instances at which code is seen, and of how many that are drawn.
_INSTANCES, _DRAWN = 12, 60


class RuleResult(NamedTuple):
    """The ``steps`` by which all follows, the claims that these use, and what has to be shown besides them."""

    steps: tuple[RuleUse, ...]
    used: tuple[Claim, ...]
    own: tuple[Claim, ...]


def derived(claim: Claim, premises: Sequence[Premise]) -> RuleResult:
    """Derive a claim for all letters that its hypotheses and its setting allow.

    ``ValueError`` says what does not follow, or what of the letters is not known.
    """
    iteration = obligations.iteration_of(claim)
    assumed = (*symbolic.assumed(claim), *iteration.limits)
    known = [fact for p in premises for fact in facts.known(p.claim, assumed, p.case, _ANY)]
    wanted = list(obligations.ends(claim.statement, [_ANY]))
    found = rules.derive(iteration, claim.requires, known, [t for _, _, t in wanted])
    sought = [(name, found.holds(kind, t)) for name, kind, t in wanted]
    if missing := next((name for name, how in sought if not how), ""):
        raise ValueError(f"{missing} is not derived for all letters")
    steps = tuple(found.traced(c for _, how in sought for c in how))
    nonnegative = [next(obligations.own(iteration, [of])) for of in obligations.nonnegative(steps, wanted)]
    own = (*nonnegative, *obligations.own(iteration, []))
    return RuleResult(steps, tuple(rules.claims_of(steps).values()), own)


def unshown(own: Sequence[Claim]) -> str:
    """The first of the claims that is not shown for all letters and every number of clients, and why; or empty.

    Several limits rest on the same, which is shown once in a process for as long as its code stays as it is.
    """
    if obligations.refresh():
        _unshown.cache_clear()
    return next((f"{claim.id}: {why}" for claim in own if (why := _unshown(claim.setting, claim.statement))), "")


@lru_cache(maxsize=256)
def _unshown(setting: Setting, statement: Statement) -> str:
    claim, rng = Claim("what-a-derivation-rests-on", setting=setting, statement=statement), np.random.default_rng(0)
    met = meeting(claim, islice(claim.instances.recipes(rng), _DRAWN))
    shown = client_proofs.prove(claim, [instance for _, instance in islice(met, _INSTANCES)], rng)
    return shown if isinstance(shown, str) else ""


def foreign(claim: Claim, used: Sequence[Claim], iteration: Iteration) -> str:
    """A function on which a derivation rests that is not all code of this package's theory as it stands; or empty.

    That the iterations are those of the method is only seen along runs: of code that anybody may have written, which
    may look at how many clients there are, this shows nothing for all of them.
    """
    functions: list[Any] = [iteration.before, iteration.after, iteration.kept, iteration.every, iteration.of_step]
    functions += [iteration.admits, *(h.met for pair in iteration.cases for h in pair), iteration.setting.hints.known]
    functions += [part for h in claim.requires for says in h.says for part in vars(says).values()]
    own = next((str(getattr(f, "__name__", f)) for f in functions if not theory.holds(f)), "")
    return own or next((name for c in (claim, *used) if (name := whole.foreign(c))), "")
