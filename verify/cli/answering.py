"""``--json``: what a command says as data, on stdout, where it is an object of the format ``fedtheory-answer-1``.

It has the command, its exit status, the lines that it prints for people and, of those that have more to say, that as
data: ``claims``, ``table``, ``models``, ``best``,
``potential``, ``repairs``; or the ``error`` where the input is bad. The schema is
``answer.json`` of :mod:`verify.agent`.
"""

from __future__ import annotations

import io
import json
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from contextvars import ContextVar
from typing import Any

from fedtheory import extras

FORMAT = "fedtheory-answer-1"
#: The beginning of a line on stderr that only reports a command's progress.
PROGRESS = "progress: "

_data: ContextVar[dict[str, Any] | None] = ContextVar("_data", default=None)


class Ended(BaseException):
    """A signal that asks the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def reason(ended: BaseException) -> str:
    """Return why a process ends that was asked to, in words."""
    return f"ended by {signal.Signals(ended.number).name}" if isinstance(ended, Ended) else "interrupted"


def status(ended: BaseException) -> int:
    """Return the exit status of such a process."""
    return 128 + (ended.number if isinstance(ended, Ended) else signal.SIGINT)


def add(**data: Any) -> None:
    """Say something as data too, where data are asked for; a list goes on where there is one."""
    found = _data.get()
    if found is None:
        return
    for name, value in data.items():
        if isinstance(value, list):
            found.setdefault(name, []).extend(value)
        else:
            found[name] = value


def asked() -> bool:
    """Return True if data are asked for."""
    return _data.get() is not None


def progress(text: str) -> None:
    """Say on stderr how far the command is, where data are asked for."""
    if asked():
        print(f"{PROGRESS}{text}", file=sys.stderr, flush=True)


def answered(command: str, run: Callable[[], int]) -> int:
    """Run a command and print its answer; the exit status. Bad input is an answer too, and then raised; so is what was
    found before the process was asked to end."""
    token = _data.set({})
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            found = run()
    except (ValueError, OSError, ImportError) as error:
        _print(command, 2, printed, {"error": sentence(error), **(_data.get() or {})})
        raise
    except (KeyboardInterrupt, Ended) as ended:
        _print(command, status(ended), printed, {"error": reason(ended), **(_data.get() or {})})
        sys.stdout.flush()
        raise
    else:
        _print(command, found, printed, _data.get() or {})
    finally:
        _data.reset(token)
    return found


def refused(command: str, error: Exception) -> None:
    """Print the answer to bad input that no command has been run on."""
    _print(command, 2, io.StringIO(), {"error": sentence(error)})


def sentence(error: Exception) -> str:
    """Return what is wrong with the input, in one line."""
    if isinstance(error, ImportError):
        error = extras.explained(error)
    elif isinstance(error, OSError) and not isinstance(error, ChildProcessError):
        return f"{error.filename or 'output'}: {error.strerror or error}"
    return " ".join(str(error).split())


def _print(command: str, exit_status: int, printed: io.StringIO, data: dict[str, Any]) -> None:
    lines = printed.getvalue().splitlines()
    answer = {"format": FORMAT, "command": command, "status": exit_status, **data, "lines": lines}
    sys.stdout.write(json.dumps(answer, indent=1) + "\n")
