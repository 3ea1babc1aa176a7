"""What the other claims of a paper offer to a repair: hypotheses, quantities, and settings in which the same is said.

Claims that repair another one are left out: what they say is to be found, not copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.kinds.base import spoken_of
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import Alone, Along
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.derivation.runs import outside
from verify.report.statement import expression as words

_INEQUALITIES = (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)
#: The indices and superscripts of a name, and what is left of it then.
_INDICES, _WORDS = re.compile(r"[_^](\{[^}]*\}|\w)"), re.compile(r"[A-Za-z]+")


#: Runs of which iterations are looked at, how many are proposed, and how near what is the same comes out.
_RUNS, _PROPOSED, _NEAR = 40, 2000, 1e-9


def others(claim: Claim) -> Iterator[Claim]:
    """The other claims of the paper, those that repair something left out."""
    for other in claims.of_paper(claim.paper).values():
        if not other.repairs and other.id != claim.id.rstrip("*"):
            yield other


def hypotheses(claim: Claim) -> Iterator[Hypothesis]:
    """The hypotheses of other claims of the same setting; and of any setting, inequalities between letters that this
    one has, in their own words: what a text of another setting refers to may not be there."""
    known = {h.text for h in claim.requires}
    letters = set(claim.setting.sources)
    for other in others(claim):
        same = other.setting.sources == claim.setting.sources and other.setting.algorithm is claim.setting.algorithm
        for hypothesis in other.requires:
            relation = hypothesis.relation
            if not same:
                alone = hypothesis.met is None and not hypothesis.each and isinstance(relation, _INEQUALITIES)
                if relation is None or not alone or not relation.free_symbols or not relation.free_symbols <= letters:
                    continue
                hypothesis = Hypothesis(f"{words(relation.lhs)} {relation.rel_op} {words(relation.rhs)}", relation)
            if hypothesis.text not in known:
                known.add(hypothesis.text)
                yield hypothesis


def factors(claim: Claim) -> Iterator[sympy.Expr]:
    """Letters of the setting less a number that stand in other claims, each once."""
    known: set[sympy.Expr] = set()
    for other in others(claim):
        sides = (side for c in other.statement.comparisons for side in (c.left, c.right))
        for node in sorted({n for side in sides for n in side.atoms(sympy.Add)}, key=sympy.default_sort_key):
            alone = len(node.args) == 2 and node.args[0].is_negative and node.args[1].is_Symbol
            if alone and node not in known and node.free_symbols <= set(claim.setting.sources):
                known.add(node)
                yield node


def exchanges(claim: Claim) -> Iterator[tuple[Quantity, Quantity]]:
    """Each quantity of the statement with others of the same setting and method whose names differ in indices only.

    Nothing says which quantities are of one sort; names that share their letters are, as a rule.
    """
    used = {name for name, _ in _used(claim)}
    known = {q.expression: q for q in claim.statement.quantities if q.expression in used}
    for other in others(claim):
        alike = other.setting.sources.keys() == claim.setting.sources.keys()
        if alike and other.setting.algorithm is claim.setting.algorithm:
            # What a claim holds and does not speak of, it may share with one that repairs it.
            spoken = {name for name, _ in _used(other)}
            for q in other.statement.quantities:
                if q.expression in spoken:
                    known.setdefault(q.expression, q)
    for old in claim.statement.quantities:
        for name, new in known.items():
            if (
                old.expression in used
                and name != old.expression
                and new.after == old.after
                and _stem(old) == _stem(new)
            ):
                yield old, new


def _stem(quantity: Quantity) -> frozenset[str]:
    """The words in the name of a quantity, indices and superscripts left out."""
    return frozenset(_WORDS.findall(_INDICES.sub("", str(quantity.expression))))


def restated(claim: Claim) -> Iterator[Claim]:
    """The claim in other settings of the paper, in which other claims speak of all its quantities by the same names and
    of all its letters, each setting once; and of a single iteration, where it is about runs and looks at no other. A
    claim about another start is about no other setting.

    Of its hypotheses those are kept that are relations between letters which the setting has, and those that are
    asked for there in the same words: the claim is then made under no more than before.
    """
    used = _used(claim)
    if not used or not claim.statement.statewise or "algorithm" in claim.changes:
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
    """The claim in a setting of the paper's, of which others are ``stated``, and of other quantities; none where there
    is no such claim."""
    letters = set(setting.sources)
    if not spoken_of(claim.statement) <= letters:
        return
    asked = {h.text: h for other in stated for h in other.requires}
    requires = tuple(h for own in claim.requires if (h := _there(own, asked, letters)) is not None)
    # A statement of any kind that speaks of quantities.
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
    """How other claims of the paper take the runs that a claim is about for iterations, each way once."""
    known: set[int] = set()
    for other in others(claim) if claim.setting.drawing.special is not None else ():
        if other.setting.drawing.special is claim.setting.drawing.special:
            for q in other.statement.quantities:
                along = getattr(q.of, "along", None)
                if isinstance(along, Along) and along.alone is not None and id(along) not in known:
                    known.add(id(along))
                    yield along


def _covers(there: Claim, along: Along, claim: Claim, quantities: list[Quantity]) -> bool:
    """Whether a claim about single iterations is seen to say of runs what a claim about these does: the iterations of
    some runs are among those that it is about, and the quantities are the same numbers there. Some of these iterations
    are neither the first nor the last of their runs."""
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


def _used(claim: Claim) -> set[tuple[sympy.Expr, bool]]:
    """The quantities that stand in the formulas, by name and by whether they come after a step."""
    sides = sympy.Tuple(*(side for c in claim.statement.comparisons for side in (c.left, c.right)))
    return {(q.expression, q.after) for q in claim.statement.quantities if sides.has(q.expression)}


def _settings(claim: Claim) -> dict[Setting, list[Claim]]:
    """The other claims of the paper by their settings, that of the claim left out."""
    found: dict[Setting, list[Claim]] = {}
    for other in others(claim):
        if other.setting is not claim.setting and other.setting.algorithm is not None:
            found.setdefault(other.setting, []).append(other)
    return found


def _there(own: Hypothesis, asked: dict[str, Hypothesis], letters: set[sympy.Expr]) -> Hypothesis | None:
    """What a hypothesis is in another setting; None where it is none there."""
    if own.text in asked:
        return asked[own.text]
    relation = own.relation
    kept = relation is not None and own.met is None and not own.each and relation.free_symbols <= letters
    return own if kept else None
