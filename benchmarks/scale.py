"""An audit of many claims on many workers, simulated from the seconds that an audit measured.

    python -m benchmarks.scale AUDIT.json [--claims 10000] [--workers 100] [--price 0.05] [--seed 0]

Claims are drawn with replacement from those of the audit, with their seconds and the size of their entry. A worker
takes the next claim when it is done with one, in the order drawn or the slowest first; it starts with loading the
methods; it is lost at a rate, its claim is then begun again by another, and a new worker comes. Prices are of an hour
of one core.
"""

from __future__ import annotations

import argparse
import heapq
import json
import pickle
import sys
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from fedtheory import claims
from fedtheory.numbers.rational import Array
from verify import audit
from verify.audit import sweeping
from verify.results import digests as code

#: Seconds in which a worker loads the methods, those in which a lost one is replaced, and those of handing out a task.
LOADING, REPLACED, HANDED = 3.0, 60.0, 0.002


class Course(NamedTuple):
    """``seconds`` until the last claim is done; ``busy``: the share of the workers' time that went into claims that
    were finished; ``lost``: workers that were lost."""

    seconds: float
    busy: float
    lost: int


def course(seconds: Array, workers: int, losses: float, rng: np.random.Generator) -> Course:
    """Claims of so many ``seconds`` in this order; ``losses``: how many a worker suffers in an hour."""
    free = [(LOADING, worker) for worker in range(workers)]
    heapq.heapify(free)
    left = list(seconds[::-1])
    end, lost, handed = 0.0, 0, 0.0
    while left:
        begun, worker = heapq.heappop(free)
        # One scheduler hands out all tasks, one after the other.
        handed = max(handed, begun) + HANDED
        length = left.pop()
        dies = rng.exponential(3600 / losses) if losses else np.inf
        if dies < length:
            lost += 1
            left.append(length)
            heapq.heappush(free, (handed + dies + REPLACED + LOADING, worker))
            continue
        end = max(end, handed + length)
        heapq.heappush(free, (handed + length, worker))
    return Course(end, float(seconds.sum()) / (workers * end), lost)


def task_bytes() -> int:
    """Bytes of one task: the function, the digest of the code, the claim's id, seed and budget."""
    work = partial(sweeping._checked, code.everything(), audit._checked)
    return len(pickle.dumps((work, (claims.get("feddcd/theorem-6.1/eq-10/repaired"), 0, "quick"))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the simulated audit."""
    parser = argparse.ArgumentParser(description="An audit on many workers, simulated.", allow_abbrev=False)
    parser.add_argument("audit", metavar="AUDIT.json", help="as `fedtheory audit` writes it")
    parser.add_argument("--claims", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--price", type=float, default=0.05, help="of an hour of a core (0.05)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if min(given.claims, given.workers) < 1:
        print("scale: claims and workers must be 1 or more", file=sys.stderr)
        return 2
    try:
        with open(given.audit, encoding="utf-8") as file:
            entries = json.load(file)["claims"]
    except (OSError, ValueError, KeyError) as error:
        print(f"scale: {given.audit} is not an audit's JSON ({error})", file=sys.stderr)
        return 2
    measured = np.array([entry["seconds"] for entry in entries])
    bytes_back = np.array([len(json.dumps(entry)) for entry in entries])
    rng = np.random.default_rng(given.seed)
    drawn = rng.integers(len(entries), size=given.claims)
    seconds, back = measured[drawn], bytes_back[drawn]
    print(
        f"measured: {len(entries)} claims, {measured.sum():.0f} s, median {np.median(measured):.1f} s, "
        f"slowest {measured.max():.1f} s ({entries[int(measured.argmax())]['id']})"
    )
    print(
        f"{given.claims} such claims: {seconds.sum() / 3600:.2f} core hours; {seconds.sum() / given.workers:.0f} s on "
        f"{given.workers} workers at the very least"
    )
    print(
        f"wire: {given.claims * task_bytes() / 1e6:.1f} MB out ({task_bytes()} bytes a task), "
        f"{back.sum() / 1e6:.1f} MB back (mean {back.mean() / 1e3:.1f} kB, largest {bytes_back.max() / 1e3:.0f} kB)"
    )
    print("\n| order | losses of a worker an hour | workers | seconds | busy | lost | core hours | cost |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for workers in (given.workers // 10 or 1, given.workers, 10 * given.workers):
        for order, sequence in (("as listed", seconds), ("slowest first", -np.sort(-seconds))):
            for losses in (0.0, 1.0):
                found = course(sequence, workers, losses, rng)
                hours = workers * found.seconds / 3600
                print(
                    f"| {order} | {losses:g} | {workers} | {found.seconds:.0f} | {found.busy:.0%} | {found.lost} | "
                    f"{hours:.2f} | {hours * given.price:.2f} |"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
