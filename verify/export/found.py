"""The proof objects of a claim: for all letters where there are such proofs, else those of certificates at points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fedtheory import claims
from fedtheory.claims import Claim
from verify import checker, results
from verify.base.verdict import Verdict
from verify.derivation import printed_rounds
from verify.evidence.certificates import ClassCertificate
from verify.evidence.counterexamples import Counterexample
from verify.export import arithmetic, closed, enclosures, for_all_letters, means, objects, read_code, read_data
from verify.export.objects import ProofObjects
from verify.methods import (
    any_data,
    client_by_client,
    derivation,
    growth,
    identities,
    induction,
    multipliers,
    polynomials,
    real_closed_fields,
    search,
    telescoping,
    witness,
)
from verify.methods import read_code as code_read
from verify.methods.base import Inquiry, Method
from verify.multipliers.contraction import chain_of
from verify.multipliers.proving import Shown, prove
from verify.multipliers.reasons import Follows, Reason, Stated
from verify.report import statement

#: The number of instances that are proposed in search of a witness: as many as in a quick check.
_PROPOSED = 160
#: Verdicts with objects to export.
SHOWN = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.REFUTED)
#: The writers of proofs, by the methods that find them.
_WRITTEN: Mapping[str, Callable[[Claim], Sequence[dict[str, Any]]]] = {
    identities.METHOD.name: lambda claim: [closed.of_identities(claim)],
    polynomials.METHOD.name: closed.of_relations,
    real_closed_fields.METHOD.name: closed.of_algebraic,
    client_by_client.METHOD.name: lambda claim: _of_clients(claim),
    growth.METHOD.name: means.of_orders,
    derivation.METHOD.name: for_all_letters.of_derived,
    code_read.METHOD.name: read_code.of,
    any_data.METHOD.name: read_data.of,
}


def of_own(claim: Claim) -> tuple[ProofObjects, str]:
    """Find the objects that prove a claim of one's own file for all letters.

    Args:
        claim: The claim.

    Returns:
        The objects, as :func:`verify.checker.check` takes them, and the reasons where there are none.

    Examples:
        >>> import json
        >>> import fedtheory as ft
        >>> from verify import checker
        >>> from verify.export.found import of_own
        >>> x = ft.letters("x")
        >>> claim = ft.Claim("own/square", setting=ft.Setting(letters=(x,)), statement=ft.Inequality(2 * x, 1 + x**2))
        >>> objects, reasons = of_own(claim)
        >>> [checker.check(json.dumps(one))["claim"] for one in objects]
        ['own/square']
    """
    reasons, kind = [], claim.statement.kind
    for_all: dict[Method, Callable[[Claim], Sequence[dict[str, Any]]]] = {
        multipliers.METHOD: _of_multipliers,
        polynomials.METHOD: closed.of_relations,
        code_read.METHOD: read_code.of,
        client_by_client.METHOD: _of_clients,
        induction.METHOD: _of_step,
        telescoping.METHOD: _of_round,
    }
    for method, written in for_all.items():
        if method.speaks_of(claim):
            try:
                return ProofObjects.of(written(claim)), ""
            except ValueError as error:
                reasons.append(f"{method.name}: {error}")
    why = "; ".join(reasons) or f"a statement of the kind {kind} has none"
    return ProofObjects(), f"no proof for all letters is found: {why}"


def refuting(claim: Claim, own: bool) -> Counterexample | None:
    """Return the counterexample to a claim that ships; to one of a user's ``own`` file the one that a search finds."""
    if own:
        return search.METHOD.run(search.METHOD, Inquiry(claim, size=_PROPOSED)).counterexample
    entry = results.shipped().entries.get(claim.id)
    stored = None if entry is None else entry["counterexample"]
    return None if stored is None else Counterexample.from_json(stored)


def of_refuted(claim: Claim, example: Counterexample) -> ProofObjects:
    """Return the arithmetic of a counterexample as an object; none where it cannot be checked without this package."""
    made = _of_example(claim, example)
    return ProofObjects.of([] if made is None else [made])


def _of_multipliers(claim: Claim) -> ProofObjects:
    shown = prove(claim)
    if isinstance(shown, str):
        raise ValueError(shown)
    return for_all_letters.of(shown)


def _of_clients(claim: Claim) -> ProofObjects:
    """Proofs by what each client adds or, as the method does, by the mean over the clients and deviations from it."""
    try:
        return for_all_letters.of_each_client(claim)
    except ValueError:
        shown = prove(claim)
        if isinstance(shown, str):
            raise
        return for_all_letters.of(shown)


def of_claim(id: str) -> tuple[ProofObjects, str]:
    """Return the objects that prove a claim whose verdict the package carries.

    Args:
        id: The id of the claim.

    Returns:
        One object for each case where it is proved for all letters, else one for each choice of its parameters; and the
        reason where there are none.

    Raises:
        ValueError: If a certificate does not hold, or the id is unknown.
    """
    entry = results.shipped().entries.get(id)
    if entry is None:
        return ProofObjects(), f"the package carries no results of {id}"
    how = _outcome(entry).get("method", "none")
    why = f"{entry['verdict']} by the method {how!r}: a computation, to be done again by fedtheory show {id} --check"
    if how == real_closed_fields.METHOD.name:
        why += f"; {real_closed_fields.ALONE}"
    if how == multipliers.METHOD.name:
        for_all, reason = _of_letters(id)
        return for_all, reason and f"{why} ({reason})"
    if how == induction.METHOD.name:
        try:
            return _of_step(claims.get(id)), ""
        except ValueError as error:
            return ProofObjects(), f"{why} ({error})"
    if how in _WRITTEN:
        try:
            return ProofObjects.of(_WRITTEN[how](claims.get(id))), ""
        except ValueError as error:
            return ProofObjects(), f"{why} ({error})"
    stored = [data for outcome in entry["outcomes"] for data in outcome["certificates"]]
    found = [one for data in stored if (one := objects.of(ClassCertificate.from_json(data))) is not None]
    return ProofObjects.of(found), "" if found else why


def _of_letters(id: str) -> tuple[ProofObjects, str]:
    try:
        return _of_multipliers(claims.get(id)), ""
    except ValueError as error:
        return ProofObjects(), str(error)


def _of_step(claim: Claim) -> ProofObjects:
    """The objects of what a bound for every number of rounds follows from: of a step, and of inequalities of states."""
    chain = chain_of(claim)
    shown = prove(chain.step)
    if isinstance(shown, str):
        raise ValueError(shown)
    by = "by induction on the rounds"
    if chain.lemmas:
        says = f"of {claim.id}, which follows {by} from a step and from inequalities of all states:"
        return _premises(Stated(says), shown, chain.lemmas)
    return _premises(Follows(claim.id, by), shown)


def _of_round(claim: Claim) -> ProofObjects:
    """The objects of the inequality of one round from which a bound follows, where nothing else has to be shown."""
    followed = telescoping.follow(Inquiry(claim, size=_PROPOSED))
    if isinstance(followed, str):
        raise ValueError(followed)
    chain = followed.chain
    if followed.step is None or chain.lemma is not None:
        raise ValueError(f"more than one round is needed, which is not written: {followed.note}")
    quantities = printed_rounds.names(claim)
    known = [f"as {quantities[q]} >= 0 in all states" for q in chain.nonnegative]
    how = ", ".join(["by induction on the rounds", *chain.ways, *known])
    return _premises(Follows(claim.id, how), followed.step)


def _premises(says: Reason, step: Shown, lemmas: Iterable[Claim] = ()) -> ProofObjects:
    return ProofObjects.joined([for_all_letters.of(step), *map(for_all_letters.of_each_client, lemmas)]).saying(says)


def all_of(id: str) -> list[dict[str, Any]]:
    """The objects of a claim that is proved, certified or refuted; none of another.

    Where nothing can be written that is checked without this package there is one that says so, of the kind
    "recomputation". ``ValueError`` as for :func:`of_claim`.
    """
    entry = results.shipped().entries.get(id)
    if entry is None or entry["verdict"] not in SHOWN:
        return []
    if entry["counterexample"] is not None:
        example = Counterexample.from_json(entry["counterexample"])
        made = _of_example(example.claim, example)
        if made is not None:
            return [made]
        lines = [f"{example.place()}: {example.left} where {example.relation} {example.right} would have to hold"]
        return [_recomputation(id, entry, lines)]
    if _outcome(entry).get("method") == witness.METHOD.name and (made := _of_witness(claims.get(id))) is not None:
        return [made]
    found, why = of_claim(id)
    return list(found) or [_recomputation(id, entry, [why])]


def _of_witness(claim: Claim) -> dict[str, Any] | None:
    """The arithmetic of an instance that contradicts what a claim says to fail, found again."""
    example = witness.smallest_witness(Inquiry(claim, size=_PROPOSED))
    return None if example is None else _of_example(claim, example)


def _of_example(claim: Claim, example: Counterexample) -> dict[str, Any] | None:
    return arithmetic.of(claim, example) or enclosures.of(claim, example)


def _outcome(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((o for o in entry["outcomes"] if o["verdict"] == entry["verdict"]), {})


def _recomputation(id: str, entry: Mapping[str, Any], lines: list[str]) -> dict[str, Any]:
    claim = claims.get(id)
    of_other = results.code() != results.shipped().code and results.carried(claim) is None
    verdict = f"{entry['verdict']} by other code, and perhaps of another statement" if of_other else entry["verdict"]
    says = [*statement.text(claim), f"{verdict}: {entry['note']}", *lines]
    says.append(f"nothing of it is in this file: fedtheory show {id} --check computes it again")
    return objects.sealed({"format": checker.FORMAT, "kind": "recomputation", "claim": id, "says": says})
