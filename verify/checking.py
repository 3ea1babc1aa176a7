"""``check``: the evidence for one claim, by every method that applies, or from what is carried of it.

A proof is found once and checked always. Nothing that is carried is believed: a proof is made again; a counterexample
is evaluated in fractions, or by intervals; a margin is measured again where it was seen. What does not hold is
reported, and searched for again. Two things are not done again, where the code is the same: proofs are not looked for
where none was found, and of a claim that is proved only the beginning of the search is made, and few runs are
followed, which guards the proof.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MethodType

import numpy as np
from threadpoolctl import threadpool_limits

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.scope import Scope
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import Infimum
from verify.base import garbage, originals
from verify.base.case import Case
from verify.base.faults import placed
from verify.base.verdict import Verdict
from verify.comparisons import asserted, orders
from verify.comparisons.deciding import arithmetic, violated
from verify.conditions import conditional
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import ASSUMED, Carried, Evidence, Outcome, Provenance, strongest
from verify.methods import METHODS, PROOFS
from verify.methods.base import PROVEN, UNCOUNTED, Inquiry, Method, Role, examined
from verify.methods.search import agree, margin_at
from verify.reading import theory
from verify.search import hunting, seen
from verify.search.refutation import margin as margin_of

# Functions of libraries that we use are saved before anybody's claim is checked.
originals.replaced()

#: Instances proposed at each budget.
BUDGETS = {"quick": 160, "full": 3000}
#: Names of the ways in which methods work, in the order in which they are listed; others come after these.
_USED = ("symbolic", "reals", "formal", "sdp", "exact", "spectral", "search", "rational", "sequential", "derivation")
#: Verdicts that say that a claim holds.
_HOLDS = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED)
#: Ways of working on numbers; by all others states may be formal, and more is assumed of them.
_NUMERIC = {"reals", "exact", "spectral", "search", "rational", "sequential"}
#: Instances at which what is proved is looked at, and searched for violations; the second where the first are not
#: enough.
_GUARD = (10, 40)


def check(
    claim: Claim,
    seed: int = 0,
    budget: str = "quick",
    progress: Callable[[], object] | None = None,
    known: Mapping[str, Verdict] | None = None,
    carried: Carried | None = None,
    keep: Callable[[Evidence], object] | None = None,
) -> Evidence:
    """Test a claim and return the evidence. The same seed and budget give the same evidence.

    A refutation is confirmed in exact arithmetic and made as small as the search can; a claim whose hypotheses no
    instance met is ``not-tested``, never ``supported``. The verdict is at most the weakest of those of the claims that
    are ``given``, which are checked if they are not known.

    Args:
        claim: The claim.
        seed: The seed of the search, a nonnegative integer.
        budget: "quick" or "full": how many instances the search proposes.
        progress: Called without arguments when one of the methods is done, or was not needed.
        known: Verdicts of registered claims, by id, that this gave at the same seed and budget: they are not examined
            again.
        carried: What was found of the claim before, whose proofs are checked in place of being found again.
        keep: Called with the evidence so far whenever a method has ended, in case the check is stopped.

    Returns:
        The evidence, with the verdict.

    Raises:
        ValueError: For anything but a claim, for an unknown budget or a bad seed, or where the claim's own code does
            not run on numbers.
        Defect: For an error in this package.

    Examples:
        >>> import fedtheory as ft
        >>> from verify import check
        >>> x, y = ft.letters("x y")
        >>> setting = ft.Setting("all x, y > 0", letters=(x, y))
        >>> claim = ft.Claim("own/am-gm", setting=setting, statement=ft.Inequality(4 * x * y, (x + y) ** 2))
        >>> print(check(claim))
        proved, margin 0
    """
    if not isinstance(claim, Claim):
        raise ValueError(f"check takes a claim, as claims.get(id) gives, not {claim!r}")
    check_arguments(seed, budget)
    begun = time.perf_counter()
    _check_libraries(claim)
    # One BLAS thread: the sums of small matrices then round alike under any load. An undefined number in an author's
    # code is reported in the evidence, and not on the terminal.
    with threadpool_limits(limits=1), np.errstate(all="ignore"), garbage.seldom():
        inquiry = Inquiry(claim, seed, BUDGETS[budget], known=known or {}, methods=METHODS)
        recheck = None if carried is None else _Recheck(inquiry, carried, budget)
        outcomes = []
        with placed(claim):
            for outcome in examined(inquiry, METHODS) if recheck is None else recheck.outcomes(METHODS):
                outcomes.append(outcome)
                if progress is not None:
                    progress()
                if keep is not None:
                    keep(_unfinished(claim, outcomes))
        evidence = _evidence_of(inquiry if recheck is None else recheck.inquiry, tuple(outcomes))
    _check_libraries(claim)
    known = known or {}
    evidence = conditional(evidence, lambda given: known.get(given.id) or _verdict_of(given, seed, budget))
    fallen = () if recheck is None else tuple(recheck.fallen)
    return replace(evidence, fallen=fallen, seconds=time.perf_counter() - begun)


def _check_libraries(claim: Claim) -> None:
    """Raise ``ValueError`` if somebody has replaced a function of Python's or of a library's."""
    if (name := originals.replaced()) is not None:
        raise ValueError(f"{claim.id}: {name} was replaced by other code, so what claims say is not known")


@lru_cache(maxsize=256)
def _verdict_of(claim: Claim, seed: int, budget: str) -> Verdict:
    """The verdict on a claim whose bound others restate, of which several may."""
    return check(claim, seed, budget).verdict


def check_arguments(seed: int, budget: str) -> None:
    """``ValueError`` for a seed or a budget that ``check`` does not take."""
    if not isinstance(budget, str) or budget not in BUDGETS:
        raise ValueError(f"the budget must be one of {', '.join(BUDGETS)}, got {budget!r}")
    if not isinstance(seed, int) or seed < 0:
        raise ValueError(f"the seed must be a nonnegative integer, got {seed}")


def _unfinished(claim: Claim, outcomes: Sequence[Outcome]) -> Evidence:
    """Return the evidence when only some methods have ended: no verdict, but their outcomes."""
    best = strongest(outcomes)
    ended = [f"{o.method}: {o.verdict or 'nothing'}" for o in outcomes if o.applied]
    return Evidence(
        claim,
        Verdict.NOT_TESTED,
        None if best is None else best.margin,
        tuple(dict.fromkeys(name for o in outcomes for name in o.used)),
        0 if best is None else best.instances,
        note=f"until then {', '.join(ended) if ended else 'no method had ended'}",
        outcomes=tuple(outcomes),
    )


def _evidence_of(inquiry: Inquiry, outcomes: tuple[Outcome, ...]) -> Evidence:
    """The evidence that the outcomes amount to."""
    best = strongest(outcomes)
    assert best is not None, "the search and those that stand alone always have a verdict"
    # Where a counterexample is carried nothing else was examined.
    main = (*_by(Role.ALONE, outcomes), *_by(Role.MEASURES, outcomes), best)[0]
    if best.verdict is Verdict.REFUTED:
        main = replace(best, instances=best.instances or main.instances)
    used = dict.fromkeys(name for o in outcomes for name in o.used)
    verdict = best.verdict or Verdict.NOT_TESTED
    # A search that was not needed is not made for this.
    met = inquiry.met if "hunt" in vars(inquiry) else ()
    assumed = assumptions(inquiry.claim, verdict, best.used, met)
    note = _note(inquiry, best, outcomes)
    if verdict is Verdict.SUPPORTED:
        looked = frozenset().union(*(o.seen for o in outcomes))
        note = seen.caveat(inquiry.claim, looked, seen.unmoved(inquiry.claim, met)) + note
        note = "; ".join(filter(None, (note, seen.with_draws(looked))))
    if assumed and verdict in (Verdict.PROVED, Verdict.CERTIFIED):
        note += f"; {ASSUMED}: {', '.join(assumed)}"
    return Evidence(
        inquiry.claim,
        verdict,
        main.margin,
        (*(name for name in _USED if name in used), *(name for name in used if name not in _USED)),
        main.instances,
        counterexample=best.counterexample,
        tightest=main.tightest,
        note=note,
        outcomes=outcomes,
        assumed=assumed,
    )


def assumptions(claim: Claim, verdict: Verdict, used: Collection[str], met: Collection[Recipe] = ()) -> tuple[str, ...]:
    """Return what the verdict takes from the claim's author without proof.

    ``used``: the ways in which it was found; ``met``: recipes of some instances that meet the hypotheses.
    """
    if verdict in (Verdict.ILL_POSED, Verdict.NOT_TESTED):
        return ()
    holds = _of_what_holds(claim, used, met) if verdict in _HOLDS else ()
    return tuple(dict.fromkeys((*_of_hypotheses(claim), *holds)))


def _of_hypotheses(claim: Claim) -> Iterator[str]:
    for hypothesis in claim.requires:
        if hypothesis.met is not None and not _is_ours(hypothesis):
            yield f"the code of the hypothesis {hypothesis.text!r}, which chose the instances, says what its text does"


def _is_ours(hypothesis: Hypothesis) -> bool:
    """Return True if a hypothesis is membership in a class of this package."""
    of = hypothesis.met.__self__ if isinstance(hypothesis.met, MethodType) else None
    return theory.is_class(of) and hypothesis.states_membership((of,))


def _of_what_holds(claim: Claim, used: Collection[str], met: Collection[Recipe]) -> Iterator[str]:
    setting, formal = claim.setting, bool(set(used) - _NUMERIC)
    for part in setting.classes:
        if not theory.is_class(part):
            yield f"all that is posed of the class {type(part).__name__} holds of its members"
    if "derivation" in used:
        yield "all runs of the method consist of iterations as its premises speak of, as those do that were compared"
        for hypothesis in claim.requires:
            for meaning in hypothesis.says:
                yield f"along runs, {hypothesis.text!r} means that {meaning.words}"
        for quantity in claim.statement.quantities:
            if isinstance(quantity.of, Infimum):
                yield f"no value is below {quantity.expression}, as it is computed"
    if setting.hints.known is not None and formal:
        yield "what the setting says is known of states holds of formal vectors"
    if setting.drawing.parameters is not None and not theory.holds(setting.drawing.parameters):
        yield "the parameters that the setting makes are all that the hypotheses allow"
    by_hand = setting.drawing.special is not None and claim.statement.scope is not Scope.COMPRESSOR
    if by_hand and not (met and all(asserted.reaches(claim.instances.build(recipe, True)) for recipe in met)):
        yield "the states of its instances, made by hand, are all of which it speaks"
    if setting.hints.complete and formal:
        yield "the statement depends on nothing but the parameters and states of its setting"
    if isinstance(claim.statement, CompressorClass) and not asserted.writes(claim.statement):
        yield "a message of the compressor has the bits that it says"
    domains = [str(q.expression) for q in getattr(claim.statement, "quantities", ()) if q.domain is not None]
    if domains and formal:
        yield f"{', '.join(domains)} is finite wherever its residuals vanish"


def _by(role: Role, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of methods of one role that were run; ``outcomes``: of all methods, in order."""
    return [o for method, o in zip(METHODS, outcomes, strict=True) if o.applied and method.role is role]


def _note(inquiry: Inquiry, best: Outcome, outcomes: Sequence[Outcome]) -> str:
    """Return what the verdict rests on; for a supported claim also what prevents a stronger one."""
    note = best.note
    fallen = [o.note for o in _by(Role.DERIVES, outcomes) if o.verdict is None]
    if fallen:
        return "; ".join([note, *fallen])
    alone = any(best is o for o in _by(Role.ALONE, outcomes))
    if alone or best.verdict in (Verdict.REFUTED, Verdict.ILL_POSED, Verdict.NOT_TESTED):
        return note
    if best.verdict is Verdict.SUPPORTED:
        whole = [o.note for o in _by(Role.WHOLE, outcomes) if o.verdict is None]
        uncounted = [o.note.removeprefix("left open: ") for o in outcomes if o.note.startswith(UNCOUNTED)]
        note = "; ".join(dict.fromkeys((note, *uncounted[:1], *whole[:1])))
    # The beginning of a search says little of each number of rounds.
    if inquiry.claim.statement.horizon and inquiry.climbing:
        rounds = inquiry.hunt.by_round
        note += "; margin at " + ", ".join(f"T={T}: {round(1 - rounds[T], 6) + 0.0:g}" for T in sorted(rounds))
    drawn = [o.note for o in _by(Role.SAMPLES, outcomes) if o.used]
    return "; ".join([note, *drawn])


class _Recheck:
    """A claim examined again: ``inquiry`` is what was asked of the methods in the end, ``fallen`` what failed."""

    def __init__(self, inquiry: Inquiry, carried: Carried, budget: str) -> None:
        self.inquiry = inquiry
        self.fallen = [carried.unread] if carried.unread else []
        evidence = carried.evidence
        self._evidence = evidence
        self._stored = {} if evidence is None else {outcome.method: outcome for outcome in evidence.outcomes}
        self._same = carried.alike and carried.budget == budget
        self._again = self._same and carried.seed == inquiry.seed
        self._firm: dict[str, Outcome] = {}
        self._beginnings = [replace(inquiry, size=min(size, inquiry.size), climbing=False) for size in _GUARD]

    def outcomes(self, methods: tuple[Method, ...]) -> Iterator[Outcome]:
        """Yield each method's outcome in order, like :func:`verify.methods.base.examined`."""
        fallen = self._refuted(methods)
        if fallen is not None:
            yield from fallen
            return
        self._prove(methods)
        if self._firm and self._same and "hunt" not in vars(self.inquiry):
            self._guard(methods)
        yield from examined(self.inquiry, methods, self._found)

    def _refuted(self, methods: tuple[Method, ...]) -> list[Outcome] | None:
        """Return the outcomes if the stored counterexample contradicts the claim, else None."""
        claim = self.inquiry.claim
        by = next((o for o in self._stored.values() if o.verdict is Verdict.REFUTED), None)
        example = None if self._evidence is None else self._evidence.counterexample
        method = next((m for m in methods if by is not None and m.name == by.method and m.speaks_of(claim)), None)
        if by is None or example is None or method is None:
            return None
        try:
            again = _contradicting(claim, example)
            worst = margin_of(again)
            if by.attained is not None:
                worst = min(worst, margin_at(claim, by.attained))
        except Exception as error:
            # No file content ends an audit.
            self.fallen.append(f"the counterexample: {error}")
            return None
        found = method.found(
            Verdict.REFUTED,
            f"confirmed {arithmetic(again.left, again.right)}",
            margin=worst,
            instances=1,
            counterexample=again,
            tightest=again.recipe,
            attained=by.attained,
            used=("rational",),
            source=Provenance.RECHECKED,
        )
        return list(examined(self.inquiry, methods, lambda other, _: found if other is method else _spared(other)))

    def _prove(self, methods: tuple[Method, ...]) -> None:
        """Check the first proof that is carried, or find it again where it is quickly found."""
        for method in methods:
            was = self._stored.get(method.name)
            if was is None or was.verdict not in PROVEN or not method.speaks_of(self.inquiry.claim):
                continue
            if method.recheck is None:
                # Not a search for a proof, but the proof itself. Of one for all letters few instances are enough.
                few = self._beginnings if was.verdict is Verdict.PROVED else []
                for inquiry in (*few, self.inquiry):
                    found = method.run(method, inquiry)
                    if found.verdict in PROVEN:
                        break
            else:
                try:
                    found = replace(method.recheck(method, self.inquiry, was), source=Provenance.RECHECKED)
                except Exception as error:
                    self.fallen.append(f"the proof by the method {method.name!r}: {error}")
                    continue
            self._firm[method.name] = found
            if found.verdict in PROVEN and not method.unshown(self.inquiry.claim):
                return
        self._firm = {name: found for name, found in self._firm.items() if found.verdict in PROVEN}

    def _guard(self, methods: tuple[Method, ...]) -> None:
        """Have those methods that report how much was examined look a little, where the margin that is carried is so.

        What they find with the same seed has that margin, or all of it is found anew.
        """
        for method in methods:
            was = self._stored.get(method.name)
            if method.guard is None or was is None or not method.speaks_of(self.inquiry.claim):
                continue
            for beginning in self._beginnings:
                try:
                    found = method.guard(method, beginning, was)
                except Exception as error:
                    self.fallen.append(f"the margin: {error}")
                    return
                if found.verdict is not Verdict.NOT_TESTED:
                    break
            else:
                return
            if self._again and found.verdict is was.verdict:
                if not agree(found.margin, was.margin):
                    self.fallen.append(f"the margin: {was.margin} is carried, and {found.margin} is found")
                    return
                found = replace(found, margin=was.margin)
            self._firm[method.name] = found
            if "hunt" in vars(beginning):
                self.inquiry = beginning

    def _found(self, method: Method, inquiry: Inquiry) -> Outcome:
        if (firm := self._firm.get(method.name)) is not None:
            return firm
        was = self._stored.get(method.name)
        if self._same and was is not None and was.applied and was.verdict is None and method in PROOFS:
            return replace(was, source=Provenance.CARRIED)
        return method.run(method, inquiry)


def _contradicting(claim: Claim, example: Counterexample) -> Counterexample:
    """A counterexample evaluated again. Raise ``ValueError`` if it is none of this claim."""
    if example.claim is not claim:
        raise ValueError(f"it is one of {example.claim.id}")
    left, right = example.replay()
    if not violated(left, right, example.relation):
        raise ValueError(f"it does not contradict {claim.id}")
    of_curve = example.part.startswith(orders.PREFIX)
    asserts = claim.statement.scope is not Scope.LIMIT and not of_curve
    if asserts and (failed := hunting.failed_assertion(Case(claim, example.recipe))):
        raise ValueError(failed)
    return replace(example, left=left, right=right, text=example.place())


def _spared(method: Method) -> Outcome:
    return method.skipped("not run: a counterexample is carried", applied=False)


__all__ = ["BUDGETS", "METHODS", "Recipe", "check", "check_arguments"]
