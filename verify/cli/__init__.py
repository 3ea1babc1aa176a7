"""The command ``fedtheory``: its exit status, and how it ends.

Exit status: 0 on success; 1 for a negative finding (a replayed counterexample that differs from the stored one or
contradicts nothing, a replayed certificate that does not hold, a verdict named by ``--fail-on``); 2 on bad input and
when a file cannot be written (one line on stderr); 128 + n when signal n ended it (130 when interrupted).

Nothing here imports the numerical code, so an error in the arguments is reported at once.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from fedtheory import extras, naming
from verify import results
from verify.base.plain import clean
from verify.cli import answering
from verify.cli.answering import Ended
from verify.cli.arguments import LONGEST, STDOUT, parser

#: The functions of commands that take the id of one claim, and of those that take papers and beginnings of ids too.
_OF_ONE = ("run_show", "run_tight", "run_best", "run_repair")
_OF_MANY = ("run_why", "run_audit", "run_export")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on ``argv`` (the process's own arguments by default) and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Characters that a terminal cannot show are written out.
            stream.reconfigure(errors="backslashreplace")
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        with _ending():
            asked = parser()
            try:
                args = asked.parse_args(words)
            except ValueError as error:
                _refuse(words, error)
                raise
            if args.run is None:
                asked.print_help()
                return 0
            if _as_json(args):
                status: int = answering.answered(args.command, lambda: _run(args))
            else:
                try:
                    status = _run(args)
                except (ValueError, OSError) as error:
                    _refuse(words, error)
                    raise
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of a pipe has gone, as with `| head`: be quiet, also when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        return _complain(answering.sentence(error))
    except ImportError as error:
        if not isinstance(extras.explained(error), extras.MissingExtra):
            raise
        return _complain(answering.sentence(error))
    except (KeyboardInterrupt, Ended) as ended:
        print(f"fedtheory: {answering.reason(ended)}", file=sys.stderr)
        return answering.status(ended)


def _run(args: Any) -> int:
    # Modules that compute take a second or more to load.
    module, _, name = args.run.rpartition(".")
    if args.command == "repair" and args.own is None and str(args.id).endswith(".py"):
        # A file of a single claim, as `check` takes it.
        args.own, args.id = Path(args.id), None
    _check_named(name, args)
    return getattr(import_module(module or "verify.cli.commands"), name)(args)


@contextmanager
def _ending() -> Iterator[None]:
    """Make signals that ask the process to end an exception, so that what was found is kept; as before afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> None:
        raise Ended(number)

    # A process whose terminal has gone may have been asked to go on (nohup).
    wanted = [s for s in (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")) if s is not None]
    before = {s: signal.getsignal(s) for s in wanted if signal.getsignal(s) is signal.SIG_DFL}
    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _refuse(words: Sequence[str], error: Exception) -> None:
    """Print bad input as an answer if data were asked for on stdout, by a command that answers in its own way."""
    after = [words[k + 1 : k + 2] for k, word in enumerate(words) if word == "--json"]
    if "--json=-" in words or any(not word or word[0].startswith(STDOUT) for word in after):
        answering.refused(words[0], error)


def _as_json(args: Any) -> bool:
    """Return True if a command is to answer on stdout as data. An audit has a format of its own."""
    return bool(getattr(args, "as_json", False)) or (args.command != "audit" and str(getattr(args, "json", "")) == "-")


def _check_named(command: str, args: Any) -> None:
    """``ValueError`` for a name that no claim has. Loading the claims takes longer than all else that shows it."""
    if getattr(args, "own", None) is not None or "fedtheory.claims" in sys.modules:
        return
    if command in _OF_MANY:
        naming.select([args.id] if "id" in args else args.names, tuple(row.id for row in results.rows()))
    elif command in _OF_ONE and args.id is not None:
        ids = tuple(row.id for row in results.rows())
        if naming.meant(args.id, ids) not in ids:
            raise ValueError(naming.unknown(args.id, ids))


def _complain(message: str) -> int:
    # The message may quote an argument of any length.
    shown = clean(" ".join(message.split()))
    print(f"fedtheory: {shown if len(shown) <= LONGEST else f'{shown[:LONGEST]}...'}", file=sys.stderr)
    return 2
