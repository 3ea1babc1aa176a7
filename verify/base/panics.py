"""Solvers that write to the process's own streams: one in Rust may panic, as an exception of Python's own kind, with
words on standard error; one in C++ writes lines of its development on standard output."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_lock = threading.Lock()


@dataclass
class _Stream:
    """A stream of the process, by its ``number``. ``running``: the solvers that run; ``kept``: the stream while they
    do."""

    number: int
    running: int = 0
    kept: int = -1

    def away(self) -> None:
        """Let nothing be written; the first of several threads turns the stream away."""
        with _lock:
            if not self.running:
                # A process may have none.
                with suppress(OSError):
                    self.kept = os.dup(self.number)
                    nowhere = os.open(os.devnull, os.O_WRONLY)
                    os.dup2(nowhere, self.number)
                    os.close(nowhere)
            self.running += 1

    def back(self) -> None:
        """Let all be written again; the last of several threads turns the stream back."""
        with _lock:
            self.running -= 1
            if not self.running and self.kept >= 0:
                os.dup2(self.kept, self.number)
                os.close(self.kept)
                self.kept = -1


_OUTPUT, _ERROR = _Stream(1), _Stream(2)


class Panicked(ArithmeticError):
    """The solver gave up in its own code, as where it finds no eigenvalue."""


@contextmanager
def caught() -> Iterator[None]:
    """Raise ``Panicked`` if what runs here panics. Until it ends nothing is written to the process's standard error."""
    _ERROR.away()
    try:
        yield
    except BaseException as error:
        # The solver does not export the type.
        if type(error).__name__ != "PanicException":
            raise
        raise Panicked("the solver panics") from None
    finally:
        _ERROR.back()


@contextmanager
def unheard() -> Iterator[None]:
    """Write nothing to the process's standard output until what runs here ends."""
    _OUTPUT.away()
    try:
        yield
    finally:
        _OUTPUT.back()
