"""The same statement in other settings of the paper whose claims use the same quantities; and of any single iteration,
if it is about one iteration of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import free_symbols
from fedtheory.kinds.scope import Scope
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import Alone, Along
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.derivation.runs import outside
from verify.repair.of_paper import mentioned_quantities, others

#: Runs whose iterations are compared.
_RUNS = 40
#: Runs that are proposed.
_PROPOSED = 2000
#: Numbers that differ by less are equal.
_NEAR = 1e-9


def restated(claim: Claim) -> Iterator[Claim]:
    """Yield the claim in other settings of the paper, if their claims use all its quantities and letters by the same
    names, each setting once; and of a single iteration, if it is about runs and looks at no other. A claim about
    another start is restated in no other setting.

    The hypotheses kept are relations between letters of the new setting, and those that its claims require in the same
    words: the claim is then made under no more than before.
    """
    used = mentioned_quantities(claim)
    if not used or claim.statement.scope is not Scope.STATE or "algorithm" in claim.changes:
        return
    settings, named = _settings(claim), set[Setting]()
    for setting, stated in settings.items():
        known = {(q.expression, q.after): q for other in stated for q in other.statement.quantities}
        if used <= known.keys():
            named.add(setting)
            yield from _in(setting, stated, claim, [known[key] for key in sorted(used, key=str)])
    quantities = [q for q in claim.statement.quantities if (q.expression, q.after) in used]
    for along in _alongs(claim):
        setting = along.iteration.setting
        alone = [replace(q, of=Alone(along, q.of)) for q in quantities]
        for there in _in(setting, settings.get(setting, []), claim, alone) if setting not in named else ():
            if _covers(there, along, claim, quantities):
                yield there


def _in(setting: Setting, stated: list[Claim], claim: Claim, quantities: list[Quantity]) -> Iterator[Claim]:
    """Yield the claim in a setting of the paper, with claims ``stated`` in it, and with other quantities; nothing if
    that is not possible.
    """
    letters = set(setting.sources)
    if not free_symbols(claim.statement) <= letters:
        return
    asked = {h.text: h for other in stated for h in other.requires}
    requires = tuple(h for own in claim.requires if (h := _there(own, asked, letters)) is not None)
    # A statement of any kind that involves quantities.
    statement: Any = claim.statement
    with suppress(ValueError, TypeError):
        yield replace(
            claim,
            id=claim.id.rstrip("*") + "*",
            setting=setting,
            statement=replace(statement, quantities=tuple(quantities)),
            requires=requires,
            origin="",
            formula="",
            literal_of=None,
            follows=(),
            changes=("setting",),
        )


def _alongs(claim: Claim) -> Iterator[Along]:
    """Yield the ways in which other claims of the paper split the runs of a claim into iterations, each once."""
    known: set[int] = set()
    for other in others(claim) if claim.setting.drawing.special is not None else ():
        if other.setting.drawing.special is claim.setting.drawing.special:
            for q in other.statement.quantities:
                along = getattr(q.of, "along", None)
                if isinstance(along, Along) and along.alone is not None and id(along) not in known:
                    known.add(id(along))
                    yield along


def _covers(there: Claim, along: Along, claim: Claim, quantities: list[Quantity]) -> bool:
    """Return True if a claim about single iterations is observed to cover one about runs: the iterations of some runs
    are among those that it is about, and the quantities have the same values there. Some of these iterations are
    neither the first nor the last of their runs.
    """
    rng, within = np.random.default_rng(0), 0
    proposed = islice(claim.instances.recipes(rng), _PROPOSED)
    iteration = along.iteration
    for recipe, _ in islice(meeting(claim, proposed), _RUNS):
        instance = claim.instances.build(recipe, False)
        problem, history = instance.at(rng.normal(size=(2, instance.dimension)))
        run, points = instance.params, list(along.points(problem, instance.params, history))
        k = getattr(run, str(along.last))
        if not 0 <= k < len(points):
            return False
        params, point = points[k]
        params = params._replace(**{iteration.each: getattr(run, iteration.each)})
        met = all(h.met is None or h.met(problem, params) for h in there.requires)
        if not met or not iteration.admits(problem, params):
            return False
        if outside(iteration, problem, params, point, iteration.before(problem, params, point)):
            return False
        within += 0 < k < len(points) - 1
        for q, one in zip(quantities, there.statement.quantities, strict=True):
            try:
                found, alone = q.of(problem, run, history), one.of(problem, params, point)
            except (ValueError, TypeError, LookupError, AttributeError):
                # It looks at other iterations.
                return False
            if not np.allclose(np.asarray(found, float), np.asarray(alone, float), rtol=_NEAR, atol=_NEAR):
                return False
    return within > 0


def _settings(claim: Claim) -> dict[Setting, list[Claim]]:
    """Return the other claims of the paper by their settings, without that of the claim."""
    found: dict[Setting, list[Claim]] = {}
    for other in others(claim):
        if other.setting is not claim.setting and other.setting.algorithm is not None:
            found.setdefault(other.setting, []).append(other)
    return found


def _there(own: Hypothesis, asked: dict[str, Hypothesis], letters: set[sympy.Expr]) -> Hypothesis | None:
    """Return the form of a hypothesis in another setting; None if it has none there."""
    if own.text in asked:
        return asked[own.text]
    relation = own.relation
    kept = relation is not None and own.met is None and not own.each and relation.free_symbols <= letters
    return own if kept else None
