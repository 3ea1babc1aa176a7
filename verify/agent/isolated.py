"""A command in a process of its own, without a network and within limits: ``python -m verify.agent.isolated SECONDS
BYTES NETWORK ARGUMENT...``.

What agents write is run there. On Linux the process has a network of its own, without any interface; where that is not
possible nothing is run, unless NETWORK is "network".
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence

#: Linux's flags for new namespaces of users, and of networks.
_USERS, _NETWORK = 0x10000000, 0x40000000
#: Bytes of a file that is written.
_FILE = 2**28
#: The exit status where the network cannot be kept away.
REFUSED = 3


def alone() -> bool:
    """Leave the network for one without interfaces; False where that is not possible. Before there are threads."""
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):
        return False
    return bool(unshare(_NETWORK) == 0 or unshare(_USERS | _NETWORK) == 0)


def limit(seconds: int, size: int) -> None:
    """Bound the processor time, the memory, and the files of this process and of those that it starts."""
    import resource

    for what, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (bound, bound))


def main(arguments: Sequence[str]) -> int:
    """Run the command; its exit status."""
    seconds, size, network, *command = arguments
    if network != "network" and not alone():
        print("the network cannot be kept away from code on this system", file=sys.stderr)
        return REFUSED
    limit(int(seconds), int(size))
    from verify.cli import main as run

    return run(command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
