"""Processor seconds and peak memory of each claim's check, each in a process of its own that has loaded all before."""

from __future__ import annotations

import multiprocessing
import pickle
import resource
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from benchmarks.timing import Line
from fedtheory import claims
from fedtheory.claims import Claim
from verify.checking import check
from verify.mutation import selftest

#: Seconds in which a quick audit of all claims must be done by two processes, and a full one: limits of the project.
QUICK, FULL = 160.0, 600.0
#: Mutants of the self-test that are tried.
MUTANTS = 10


class Cost(NamedTuple):
    """Of a claim's check: ``seconds`` of processor time, those on the ``clock``, peak resident memory in MiB, ``bytes``
    of the pickled evidence."""

    id: str
    seconds: float
    clock: float
    mib: float
    bytes: int
    verdict: str


def _check(id: str, budget: str, answer: Connection) -> None:
    begun, worked = time.perf_counter(), time.process_time()
    evidence = check(claims.get(id), 0, budget)
    seconds, clock = time.process_time() - worked, time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer.send(Cost(id, seconds, clock, peak, len(pickle.dumps(evidence)), str(evidence.verdict)))


def costs(selected: Sequence[Claim], budget: str) -> Iterator[Cost]:
    """The cost of each claim, one after the other."""
    # Loads what a check loads later.
    check(claims.get("feddcd/lemma-B.8/rate"))
    context: Any = multiprocessing.get_context("fork")
    for claim in selected:
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(target=_check, args=(claim.id, budget, sending))
        child.start()
        sending.close()
        yield receiving.recv()
        child.join()


def lines(found: Sequence[Cost], budget: str) -> Iterator[Line]:
    """The sum, the slowest claims, and the largest."""
    total = sum(cost.seconds for cost in found)
    # Two processes share it, but cannot do the slowest claim in less than its time.
    shared = max(total / 2, max(cost.seconds for cost in found))
    whole = len(found) == len(claims.all())
    limit = (QUICK if budget == "quick" else FULL) if whole else None
    yield Line("audit", f"{len(found)} claims, {budget}: sum", total, "s")
    yield Line("audit", f"{len(found)} claims, {budget}: two processes at least", shared, "s", at_most=limit)
    for cost in sorted(found, key=lambda cost: -cost.seconds)[:12]:
        yield Line("audit, slowest", cost.id, cost.seconds, "s", note=f"{cost.mib:.0f} MiB")
    most = max(found, key=lambda cost: cost.mib)
    yield Line("audit, peak memory", most.id, most.mib, "MiB", at_most=1024)


def mutants() -> Iterator[Line]:
    """Seconds of the self-test for each mutant."""
    holding = selftest.holding([c for c in claims.all() if c.paper == "locodl"][:12], 1)
    chosen = selftest.sample(selftest.bank(holding), MUTANTS)
    begun = time.perf_counter()
    list(selftest.trials(chosen))
    yield Line("selftest", f"a mutant, mean of {len(chosen)}", (time.perf_counter() - begun) / len(chosen), "s")
