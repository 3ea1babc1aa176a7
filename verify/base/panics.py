"""A solver that is written in Rust may panic: as an exception of Python's own kind, without its words on standard
error."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_lock = threading.Lock()
#: The number of solvers that run now, and standard error while they do.
_running, _kept = 0, -1


class Panicked(ArithmeticError):
    """The solver gave up in its own code, as where it finds no eigenvalue."""


@contextmanager
def caught() -> Iterator[None]:
    """Raise ``Panicked`` if what runs here panics. Until it ends nothing is written to the process's standard error."""
    _enter()
    try:
        yield
    except BaseException as error:
        # The solver does not export the type.
        if type(error).__name__ != "PanicException":
            raise
        raise Panicked("the solver panics") from None
    finally:
        _leave()


def _enter() -> None:
    global _running, _kept
    with _lock:
        # The first of several threads turns standard error away, and the last one back.
        if not _running:
            # A process may have none.
            with suppress(OSError):
                _kept = os.dup(2)
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 2)
                os.close(nowhere)
        _running += 1


def _leave() -> None:
    global _running, _kept
    with _lock:
        _running -= 1
        if not _running and _kept >= 0:
            os.dup2(_kept, 2)
            os.close(_kept)
            _kept = -1
