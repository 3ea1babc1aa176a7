"""The commands for agents, by the Model Context Protocol: each tool is a command, and its answer that of ``--json``."""

from __future__ import annotations

import argparse
import os
import sys


def run_serve(args: argparse.Namespace) -> int:
    """Serve until the input ends, or nobody reads the output."""
    from fedtheory import extras
    from verify.cli import answering

    if answering.asked():
        raise ValueError("serve speaks a protocol over standard output, and has no answer to print there")
    extras.require("mcp", extra="agent")
    from verify.agent.server import Limits, server

    try:
        server(Limits(args.seconds, args.memory * 2**30, args.allow_network)).run("stdio")
    except* BrokenPipeError:
        # The client has gone: be quiet, also when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
