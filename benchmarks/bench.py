"""All benchmarks: a table in Markdown on the terminal, the numbers as JSON in a file.

    python -m benchmarks.bench [--only ITEM ...] [--claims NAME ...] [--budget quick] [--out build/bench.json]

Items: rounds, loops, replicas, expectations, worst-cases, every-n, peers, audit, selftest, bugs, battery, start. Times
are medians of runs in turn, ratios the medians of the ratios of neighbours. Says of each limit whether it is met; the
exit status is 0 either way, because a machine that is busy meets none.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.timing import Line

#: Seconds of commands that load nothing that computes, of importing verify, and of a list of all claims.
STARTS = {
    "import fedtheory": (["-c", "import fedtheory"], 0.05),
    "import verify": (["-c", "import verify"], 0.7),
    "from verify import check": (["-c", "from verify import check"], 1.0),
    "fedtheory --help": (["-m", "fedtheory", "--help"], 0.3),
    "an error in the arguments": (["-m", "fedtheory", "lst"], 0.3),
    "fedtheory list": (["-m", "fedtheory", "list"], 1.0),
    "an id that no claim has": (["-m", "fedtheory", "show", "locodl/nothing"], 0.5),
}


def starts() -> Iterator[Line]:
    """Wall seconds of commands, over those of a Python that does nothing: the least of seven."""

    def least(arguments: Sequence[str]) -> float:
        times = []
        for _ in range(7):
            begun = time.perf_counter()
            subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times.append(time.perf_counter() - begun)
        return min(times)

    nothing = least(["-c", ""])
    for what, (arguments, limit) in STARTS.items():
        yield Line("start", what, least(arguments) - nothing, "s", at_most=limit, note=f"and {nothing:.2f} s of Python")


def items(names: Sequence[str], budget: str, costs: list[object]) -> dict[str, Callable[[], Iterator[Line]]]:
    """The benchmarks by name; ``costs`` receives those of the claims named."""

    def audit() -> Iterator[Line]:
        from benchmarks import audit_cost
        from fedtheory import claims

        found = list(audit_cost.costs(claims.select(names), budget))
        costs.extend(cost._asdict() for cost in found)
        yield from audit_cost.lines(found, budget)

    def of(module: str, function: str) -> Callable[[], Iterator[Line]]:
        def run() -> Iterator[Line]:
            from importlib import import_module

            found: Iterator[Line] = getattr(import_module(f"benchmarks.{module}"), function)()
            return found

        return run

    return {
        "start": starts,
        "rounds": of("rounds", "against_kernels"),
        "loops": of("rounds", "against_loops"),
        "replicas": of("replicas", "at_once"),
        "expectations": of("replicas", "expectations"),
        "worst-cases": of("worst_cases", "lines"),
        "every-n": of("every_n", "lines"),
        "peers": of("peers", "lines"),
        "audit": audit,
        "selftest": of("audit_cost", "mutants"),
        "bugs": of("public_bugs", "lines"),
        "battery": of("conformance", "batteries"),
    }


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    model = ""
    if Path("/proc/cpuinfo").is_file():
        named = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        model = named[0].partition(":")[2].strip() if named else ""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"
    return {
        "processor": model or platform.machine(),
        "cores": str(os.cpu_count()),
        "load": load,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }


def row(line: Line) -> str:
    """A line of the table."""
    limit = ""
    if line.at_most is not None or line.at_least is not None:
        sign, bound = ("<=", line.at_most) if line.at_most is not None else (">=", line.at_least)
        limit = f"{sign} {bound:g}: {'met' if line.met else 'missed'}"
    return f"| {line.item} | {line.what} | {line.value:.3g} {line.unit} | {limit} | {line.note} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that are asked for."""
    costs: list[object] = []
    parser = argparse.ArgumentParser(description="All benchmarks.", allow_abbrev=False)
    known = list(items((), "quick", costs))
    parser.add_argument("--only", nargs="+", choices=known, default=known, metavar="ITEM", help=", ".join(known))
    parser.add_argument("--claims", nargs="+", default=[], metavar="NAME", help="papers or ids for the audit (all)")
    parser.add_argument("--budget", choices=("quick", "full"), default="quick", help="of the audit (quick)")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"), help="build/bench.json")
    given = parser.parse_args(arguments)
    described = machine()
    print(", ".join(f"{name} {value}" for name, value in described.items()))
    print("\n| benchmark | of | value | limit | measured |\n| --- | --- | ---: | --- | --- |", flush=True)
    found: list[Line] = []
    chosen = items(given.claims, given.budget, costs)
    # One thread, as claims are tested: the kernels' products are then no more parallel than the rest.
    with threadpool_limits(limits=1):
        for name in given.only:
            for line in chosen[name]():
                found.append(line)
                print(row(line), flush=True)
    limited = [line.met for line in found if line.met is not None]
    print(f"\n{sum(limited)} of {len(limited)} limits are met")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    data = {"machine": described, "lines": [{**line._asdict(), "met": line.met} for line in found], "claims": costs}
    given.out.write_text(json.dumps(data, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
