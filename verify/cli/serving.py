"""The command ``fedtheory serve``: the commands for agents, by the Model Context Protocol."""

from __future__ import annotations

import argparse
from collections.abc import Callable

#: Seconds of processor time of each command by default.
_SECONDS = 600
#: Gigabytes of memory of each command by default.
_GIGABYTES = 8
_SERVE = """\
Speak the Model Context Protocol over standard input and output: an agent lists and shows claims, asks why one does not
hold, checks theorems that it writes, certifies models of PEPit, repairs, finds the best that is true, and exports
proofs. Every answer is the data that --json prints. What the agent writes runs in a process of its own, without a
network and within the limits. Needs the extra agent (the package mcp). See docs/agents.md.
"""


def register(command: Callable[..., argparse.ArgumentParser], at_least: Callable[..., Callable[[str], int]]) -> None:
    """Add the command; the arguments as :mod:`verify.cli.arguments` has them."""
    serving = command(
        "serve",
        "verify.agent.run_serve",
        "serve agents by the Model Context Protocol, over standard input and output",
        "fedtheory serve",
        "fedtheory serve --seconds 120 --memory 4",
        description=_SERVE,
    )
    serving.add_argument(
        "--seconds",
        type=at_least(1),
        metavar="S",
        default=_SECONDS,
        help=f"limit on the processor time of each answer (default: {_SECONDS})",
    )
    serving.add_argument(
        "--memory",
        type=at_least(1, 4096),
        metavar="GB",
        default=_GIGABYTES,
        help=f"limit on the address space of each answer (default: {_GIGABYTES})",
    )
    serving.add_argument(
        "--allow-network", action="store_true", help="run what agents write with the network of this machine"
    )
