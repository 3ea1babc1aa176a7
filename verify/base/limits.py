"""Work on untrusted data, in a process of its own, with limits on its time and memory."""

from __future__ import annotations

import os
import pickle
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

#: Seconds of processor time, and bytes beyond those that the process has, that the work may take.
SECONDS, BYTES = 600, 4 * 2**30
#: The time that it may last, as a multiple of its processor time.
_WAITING = 10


class Stopped(ValueError):
    """Work that had not ended when its time was over, or that took more memory than it may: which, in one sentence."""


def limited(work: Callable[[], T], seconds: int | None = SECONDS, size: int = BYTES, name: str = "") -> T:
    """``work()``, computed in a child process that may take ``seconds`` of processor time (None: any) and ``size``
    bytes of memory.

    Raise ``Stopped`` if it takes more and ``ValueError`` when it fails in any other way: one sentence, with the
    ``name`` of what the work is on if given. Where processes cannot be forked (Windows), the work is done without
    limits.
    """
    try:
        return _limited(work, seconds, size)
    except ValueError as error:
        raise type(error)(str(error) if name in str(error) else f"{name}: {error}") from error


def _limited(work: Callable[[], Any], seconds: int | None, size: int) -> Any:
    if not hasattr(os, "fork"):
        return _reply(_outcome(work))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(work, writing, seconds, size)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as pipe:
            answer = pipe.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        ended = os.WTERMSIG(status)
        if ended == signal.SIGXCPU:
            raise Stopped(f"stopped after {seconds} s of processor time")
        if ended == signal.SIGALRM:
            raise Stopped(f"stopped after {_WAITING * (seconds or 0)} s, most of them spent waiting")
        if ended == signal.SIGKILL:
            raise Stopped("it was killed, as happens where it takes more memory than there is")
        raise ValueError(f"its evaluation was ended by {signal.Signals(ended).name}")
    if not answer:
        raise ValueError("its evaluation returned nothing")
    # The child's output is ours, not that of the file.
    return _reply(pickle.loads(answer))


def _child(work: Callable[[], Any], writing: int, seconds: int | None, size: int) -> NoReturn:
    """Do the work and leave, whatever happens, without running the parent's exit handlers."""
    try:
        for number in (signal.SIGXCPU, signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        _limit(seconds, size)
        answer = pickle.dumps(_outcome(work))
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)


def _limit(seconds: int | None, size: int) -> None:
    import resource

    # A child's processor time is counted from its birth.
    bounds = ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, _used() + size))
    for what, limit in bounds:
        if limit is None:
            continue
        _, hard = resource.getrlimit(what)
        allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(what, (allowed, hard))
    if seconds is not None:
        # Waiting for something takes no processor time.
        signal.alarm(_WAITING * seconds)


def _used() -> int:
    """Bytes of address space that the process has, as far as the system reports it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _outcome(work: Callable[[], Any]) -> tuple[bool, Any]:
    """(True, what the work gives), or (False, why it failed)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return True, work()
    except ValueError as error:
        return False, str(error)
    except MemoryError:
        return False, "it takes more memory than it may"
    except RecursionError:
        return False, "it is nested too deeply"
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"


def _reply(outcome: tuple[bool, Any]) -> Any:
    done, value = outcome
    if not done:
        raise ValueError(value)
    return value
