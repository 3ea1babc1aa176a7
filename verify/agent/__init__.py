"""The commands for agents, by the Model Context Protocol: each tool is a command, and its answer that of ``--json``."""

from __future__ import annotations

import argparse


def run_serve(args: argparse.Namespace) -> int:
    """Serve until the input ends."""
    from fedtheory import extras

    extras.require("mcp", extra="agent")
    from verify.agent.server import Limits, server

    server(Limits(args.seconds, args.memory * 2**30, args.allow_network)).run("stdio")
    return 0
