"""The methods of checking, in the order in which they run: what refutes first, then what shows most."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from fedtheory.claims import Claim
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods import (
    all_states,
    citation,
    derivation,
    determinants,
    experiment,
    growth,
    identities,
    invariants,
    long_runs,
    number_types,
    polynomials,
    readings,
    real_closed_fields,
    runs,
    search,
    second_moments,
    sequential_tests,
    trajectories,
    witness,
    worst_cases,
)
from verify.methods.base import Inquiry, Method


def examined(inquiry: Inquiry, methods: tuple[Method, ...] | None = None) -> Iterator[Outcome]:
    """What each method finds, in order; once a verdict is final the rest are not run, and say so."""
    final = ""
    for method in METHODS if methods is None else methods:
        if not method.applies(inquiry.claim):
            why = f"does not apply: the statement is of the kind {inquiry.claim.statement.kind}"
            outcome = method.skipped(why, applied=False)
        elif final:
            outcome = method.skipped(f"not run: {final}", applied=False)
        else:
            with attributed(inquiry.claim):
                outcome = method.run(method, inquiry)
            if outcome.verdict in (Verdict.PROVED, Verdict.CERTIFIED) and (relation := method.unshown(inquiry.claim)):
                outcome = method.skipped(
                    f"left open: the claim says {relation}, which a proof by this method does not show"
                )
            if outcome.verdict not in (None, Verdict.SUPPORTED):
                final = f"{outcome.verdict} by the method {method.name!r}"
        yield outcome


def _premise(inquiry: Inquiry) -> tuple[Outcome, ...]:
    return _examined_once(inquiry.claim, inquiry.seed, inquiry.size)


@lru_cache(maxsize=256)
def _examined_once(claim: Claim, seed: int, size: int) -> tuple[Outcome, ...]:
    """What methods find of a premise, on which several claims may rest."""
    # Premises are certified anew, at the constants of each derivation.
    return tuple(examined(Inquiry(claim, seed, size), tuple(m for m in METHODS if m is not worst_cases.METHOD)))


#: The methods that show a claim which the search does not refute.
PROOFS = (
    polynomials.METHOD,
    real_closed_fields.METHOD,
    all_states.METHOD,
    identities.METHOD,
    invariants.METHOD,
    worst_cases.METHOD,
    derivation.method(_premise),
)
METHODS = (
    citation.METHOD,
    readings.method(examined),
    long_runs.METHOD,
    growth.METHOD,
    witness.METHOD,
    experiment.METHOD,
    search.METHOD,
    runs.METHOD,
    determinants.METHOD,
    second_moments.METHOD,
    sequential_tests.METHOD,
    number_types.METHOD,
    trajectories.METHOD,
    *PROOFS,
)
