"""Describe a compressor's results on NaN and infinite entries. It runs in a forked process, since linear algebra on
such entries may not terminate.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import selectors
import signal
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from fedtheory.numbers.rational import Array
from verify.conformance.calls import FLAT, BadCall, Test, called, generator, shaped

# Seconds that a copy may compute, on top of a multiple of the usual time. Notes alone depend on these.
_COMPUTING = 2
# That multiple of the time that ordinary values take.
_TIMES = 20
# Seconds for which a copy is waited for.
_WAITING = 60
# Values of each input.
_VALUES = 8
_SECONDS = "seconds "


def special_values(test: Test) -> tuple[str, ...]:
    """Return notes on the compressor's results on NaN and infinite entries."""
    if not hasattr(os, "fork"):
        return ("NaN and infinite entries: not tried, as this system has no copies of processes",)
    x = test.vectors[FLAT]
    # Code that holds threads, locks or a GPU may not work in a copy.
    usual = _apart(lambda: _seconds(test, x), _WAITING)
    if not usual.startswith(_SECONDS):
        return ("NaN and infinite entries: not tried, as the compressor does not work in a copy of its process",)
    computing = _COMPUTING + _TIMES * float(usual.removeprefix(_SECONDS))
    notes = []
    for name, value in (("NaN", np.nan), ("infinite", np.inf)):
        for which, count in (("one entry", 1), ("all entries", test.d)):
            special = x.copy()
            special[:count] = value
            notes.append(f"{which} {name}: {_apart(partial(_reaction, test, special), computing)}")
    return tuple(notes)


def _seconds(test: Test, x: Array) -> str:
    """The seconds that ordinary values take; raises if there are none."""
    begun = time.process_time()
    for _ in range(_VALUES):
        called(test, 0, shaped(test, x), generator(test, 6), FLAT)
    return f"{_SECONDS}{time.process_time() - begun:.6f}"


def _reaction(test: Test, x: Array) -> str:
    rng = generator(test, 6)
    try:
        values = [np.asarray(called(test, 0, shaped(test, x), rng, "NaN")[0], dtype=float) for _ in range(_VALUES)]
    except BadCall as broken:
        return broken.failure.evidence.split(", on ")[0]
    finite = sum(bool(np.isfinite(v).all()) for v in values)
    if finite == 0:
        return "stays visible in C(x)"
    return "is HIDDEN: C(x) is finite" if finite == len(values) else "is hidden in some draws, where C(x) is finite"


def _apart(task: Callable[[], str], computing: float) -> str:
    """Run a task in a forked copy of this process; return its text, or say that it does not return or crashes the copy.

    The copy neither prints nor tidies up, so that it leaves alone what the process has open: files, locks, a GPU.
    """
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Libraries with threads warn that a copy may come to a halt; it is not waited for.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        _copied(task, computing, writer)
    os.close(writer)
    output, ends = b"", time.monotonic() + _WAITING
    try:
        with selectors.DefaultSelector() as ready:
            ready.register(reader, selectors.EVENT_READ)
            while ready.select(max(0.0, ends - time.monotonic())):
                part = os.read(reader, 65536)
                output += part
                if not part:
                    break
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    broken = os.WIFSIGNALED(status) and os.WTERMSIG(status) not in (signal.SIGKILL, signal.SIGPROF)
    return output.decode() or ("CRASHES the process" if broken else "does not return")


def _copied(task: Callable[[], str], computing: float, writer: int) -> None:
    """Run the task in the forked process; never returns."""
    try:
        import resource

        gc.disable()
        faulthandler.disable()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # No code of Python's runs while a library computes: the system's own answer to this signal ends the copy.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, computing)
        os.write(writer, task().encode())
    finally:
        # Without the ends of the process's own: no handler at exit, no buffer that both would write.
        os._exit(0)
