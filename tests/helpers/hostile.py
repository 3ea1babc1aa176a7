"""Bad input for readers: how much of it is drawn, how it is made from good input, and the limits it may not pass.

``FUZZ=10000`` in the environment draws so many inputs for each reader; ``make fuzz`` does.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

#: How many inputs each reader gets.
INPUTS = int(os.environ.get("FUZZ", "60"))
#: Of processor time, and bytes beyond those that the process has, that one input may take.
SECONDS, BYTES = 20, 2**30


def drawn(share: float = 1) -> settings:
    """So many inputs, the same in every run; ``share``: of those of a reader that costs little."""
    return settings(
        max_examples=max(10, round(share * INPUTS)),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


class Overdue(BaseException):
    """An input takes too long. Not an ``Exception``, which a reader might take for its own."""


@contextmanager
def bounded(seconds: int = SECONDS, size: int = BYTES) -> Iterator[None]:
    """``Overdue`` after so many seconds of processor time, or ten times as many of waiting; ``MemoryError`` beyond so
    many more bytes."""

    def overdue(number: int, frame: Any) -> None:
        raise Overdue(f"more than {seconds} s")

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    timers = {signal.SIGPROF: (signal.ITIMER_PROF, seconds), signal.SIGALRM: (signal.ITIMER_REAL, 10 * seconds)}
    handlers = {number: signal.signal(number, overdue) for number in timers}
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + size, before[1]))
    for timer, limit in timers.values():
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def everything(folder: Path) -> dict[str, bytes | None]:
    """What is in a folder: by name, the bytes of files, None for other things."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


@contextmanager
def unharmed(folder: Path) -> Iterator[None]:
    """Nothing in the folder is changed, added or taken away, within the limits."""
    before = everything(folder)
    with bounded():
        yield
    assert everything(folder) == before


def sentence(error: BaseException | str) -> str:
    """The message, which is one sentence for a terminal."""
    text = str(error)
    assert text and "Traceback" not in text and len(text) < 2000
    return text


def refusal(status: int, out: str, err: str) -> None:
    """A command has refused its input: with status 2, one line on stderr without control characters, none on stdout."""
    assert (status, out) == (2, ""), (status, out, err)
    assert err.startswith("fedtheory: ") and err.count("\n") == 1 and "\x1b" not in err
    sentence(err)


# Values of JSON

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**20, 10**30),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        [
            *("9**9**9**9", "1e999999999", "-" * 5000 + "1", "1/0", "nan", "inf", "3/4", "0.1", "1e400", "mu", "="),
            *(
                "9" * 4000,
                "9" * 5000,
                "1/" + "9" * 4000,
                "1e100000",
                "__import__('os')",
                "../../..",
                "\x1b[2J",
                "\ud800",
            ),
        ]
    ),
    st.builds(
        lambda text: {"ratio": text},
        st.sampled_from(["1/3", "1e9999999", "0/0", "-1", "1e50000", "x", "10", "1e100000/1e100000"]),
    ),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def places(draw: Any, value: Any) -> tuple[Any, ...]:
    """Where something stands in JSON."""
    where: tuple[Any, ...] = ()
    while isinstance(value, dict | list) and value and (not where or draw(st.integers(0, 3))):
        key = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        value, where = value[key], (*where, key)
    return where


def changed(value: Any, where: tuple[Any, ...], new: Any) -> Any:
    """JSON with something else in one place."""
    if not where:
        return new
    key, rest = where[0], where[1:]
    if isinstance(value, dict):
        return {**value, key: changed(value[key], rest, new)}
    return [changed(v, rest, new) if i == key else v for i, v in enumerate(value)]


def found(value: Any, where: tuple[Any, ...]) -> Any:
    """What stands there."""
    for key in where:
        value = value[key]
    return value


@st.composite
def rebuilt(draw: Any, document: Any) -> Any:
    """JSON with up to three places changed: another value, one from elsewhere, a part more or less, nesting."""
    for _ in range(draw(st.integers(1, 3))):
        where = draw(places(document))
        part = found(document, where)
        how = draw(st.sampled_from(["value", "value", "elsewhere", "less", "more", "deeper"]))
        if how == "elsewhere":
            new = found(document, draw(places(document)))
        elif how == "less" and isinstance(part, dict) and part:
            gone = draw(st.sampled_from(sorted(part)))
            new = {key: value for key, value in part.items() if key != gone}
        elif how == "less" and isinstance(part, list):
            new = part[: draw(st.integers(0, len(part)))]
        elif how == "more" and isinstance(part, dict):
            new = {**part, draw(st.text(max_size=8)): draw(VALUES)}
        elif how == "more" and isinstance(part, list):
            new = part * draw(st.sampled_from([2, 100]))
        elif how == "deeper":
            new = part
            for _ in range(draw(st.sampled_from([1, 5, 40]))):
                new = [new] if draw(st.booleans()) else {"ratio": new}
        else:
            new = draw(VALUES)
        document = changed(document, where, new)
    return document


# Bytes


@st.composite
def damaged(draw: Any, content: bytes) -> bytes:
    """Bytes of which some are gone, changed, added or there twice."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        end = min(len(content), at + draw(st.sampled_from([0, 1, 2, 8, 100, 10_000])))
        new = draw(st.binary(max_size=4) | st.sampled_from([b"\xff" * 8, b"\0" * 8, b"9" * 5000, b"[" * 3000, b'"']))
        how = draw(st.sampled_from(["end", "replace", "insert", "twice"]))
        content = {
            "end": content[:at],
            "replace": content[:at] + new + content[end:],
            "insert": content[:at] + new + content[at:],
            "twice": content[:end] + content[at:],
        }[how]
    return content


@st.composite
def files(draw: Any, documents: Callable[[], Sequence[Any]]) -> bytes:
    """A JSON file like one of these, changed as JSON, as bytes, or both; now and then anything."""
    if not draw(st.integers(0, 20)):
        return draw(st.binary(max_size=100) | VALUES.map(lambda value: json.dumps(value).encode()))
    document = draw(st.sampled_from(documents()))
    how = draw(st.sampled_from(["parts", "parts", "parts", "bytes", "both"]))
    content = json.dumps(document if how == "bytes" else draw(rebuilt(document))).encode()
    return content if how == "parts" else draw(damaged(content))
