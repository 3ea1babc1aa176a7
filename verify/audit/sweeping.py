"""Sweeps: one function on many tasks, in processes of this machine or on the workers of a Dask cluster.

The results do not depend on what runs it. A worker has the same code, or its work is refused; it does one task at a
time, because precision and the like are set for a whole process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import Lock
from typing import Any

from fedtheory import extras
from verify.results import digests as code

#: Seconds in which a scheduler has to answer, and in which it must have a worker.
PATIENCE = 10

#: A distributed.Client, whose workers are those that work.
_client: ContextVar[Any] = ContextVar("_client", default=None)
_alone = Lock()


def sweep(
    function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int = 1, ordered: bool = True
) -> Iterator[Any]:
    """Yield the function's result for each task, in order or as completed, using ``jobs`` processes or a cluster's
    workers.

    Function and tasks are pickled. Raise ``ChildProcessError`` if what runs them is killed, on a cluster again and
    again, or lost. Raise ``ValueError`` if a worker's code is not this code.
    """
    work, client = partial(_checked, code.everything(), function), _client.get()
    return _in_processes(work, tasks, jobs, ordered) if client is None else _by_workers(client, work, tasks, ordered)


def cores() -> int:
    """Processes that this machine, or the part of it that was given, runs at once."""
    import joblib

    return int(joblib.cpu_count())


def _in_processes(
    work: Callable[[tuple[Any, ...]], Any], tasks: Sequence[tuple[Any, ...]], jobs: int, ordered: bool
) -> Iterator[Any]:
    # Loading joblib takes longer than an error in the arguments should.
    from joblib import Parallel, delayed

    # One at a time, so that results are reported as they come.
    returning = "generator" if ordered else "generator_unordered"
    run = Parallel(n_jobs=min(jobs, max(1, len(tasks))), batch_size=1, return_as=returning)
    try:
        yield from run(delayed(work)(task) for task in tasks)
    except BrokenProcessPool as error:
        raise ChildProcessError("a process of the sweep was killed, perhaps for want of memory") from error


def _by_workers(
    client: Any, work: Callable[[tuple[Any, ...]], Any], tasks: Sequence[tuple[Any, ...]], ordered: bool
) -> Iterator[Any]:
    # Not joblib's backend: with one worker that computes here, and it does not report a lost cluster.
    from distributed import as_completed

    futures = client.map(work, tasks, pure=False)
    try:
        for future in futures if ordered else as_completed(futures, loop=client.loop):
            yield future.result()
    except Exception as error:
        if not isinstance(error, CancelledError) and not type(error).__module__.startswith("distributed"):
            raise
        lost = "the cluster was lost, or one task ended several of its workers, perhaps for want of memory"
        raise ChildProcessError(lost) from error
    finally:
        client.cancel(futures)


def _checked(digest: str, function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    """Run a task, alone in its process. Raise ``ValueError`` if the code is not that of who asks."""
    if code.everything() != digest:
        raise ValueError("a worker has other code, or computes with other packages, than the process that asks it")
    with _alone:
        return function(*task)


@contextmanager
def backend(name: str, address: str | None) -> Iterator[None]:
    """Have sweeps run in "processes" of this machine, or on the cluster at an address, "dask". ``ValueError`` for an
    address where none is wanted or none where one is, and as :func:`cluster`."""
    if (name == "dask") != (address is not None):
        raise ValueError("--backend dask and --scheduler ADDRESS go together")
    if address is None:
        yield
        return
    with cluster(address):
        yield


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Have sweeps run on the workers of a Dask cluster, by the address of its scheduler, such as tcp://host:8786.

    Raise ``ValueError`` if distributed is not installed, nobody answers, or no worker is there.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError(f"--backend dask takes the package distributed: {extras.install('dask')} brings it") from error
    # Its messages on workers that come and go are irrelevant: their tasks are given to others.
    for logger in [known for known in logging.root.manager.loggerDict if known.startswith("distributed")]:
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(f"no Dask scheduler answers at {address!r} within {PATIENCE} seconds") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ValueError(f"the Dask scheduler at {address!r} has no worker") from error
        token = _client.set(client)
        try:
            yield
        finally:
            _client.reset(token)
