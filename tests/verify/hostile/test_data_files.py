"""Files in LIBSVM's text format and CSV: read, or refused in a sentence that names them; nothing endless is read."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import bounded, damaged, drawn, sentence, unharmed
from hypothesis import given
from hypothesis import strategies as st

from fedtheory import data
from fedtheory.data import load

PACKED = {"": bytes, ".gz": lambda content: gzip.compress(content, mtime=0), ".bz2": bz2.compress}
TOKENS = st.one_of(
    st.sampled_from(
        [
            *("1", "-1", "+1", "0", "2", "nan", "inf", "1e308", "-1e999", "1:1", "1:0.5", "2:-1", "3:1e308", "2:1e99"),
            *("1:nan", "0:1", "-1:1", ":", "1:", ":1", "1:1:1", "99999:1", "99999999999:1", "9" * 400 + ":1", "qid:1"),
            *("#", "# 1:1", "\x00", "\r", "\t", "0x10:1", "1:0x10", "1,2", "é", "\ufeff1", "1:١", "1:" + "9" * 5000),
            *("2147483647:1", "2147483648:1", "-2147483649:1", "18446744073709551616:1", "1:1e-400", "qid:1 1:1"),
        ]
    ),
    st.text(max_size=6),
    st.builds("{}:{}".format, st.integers(-2, 40), st.floats()),
)


@st.composite
def files(draw: Any) -> bytes:
    """A file of two classes with rows changed, or of odd tokens alone, or of anything."""
    how = draw(st.sampled_from(["file", "file", "file", "tokens", "bytes"]))
    if how == "bytes":
        return draw(st.binary(max_size=200))
    rows = [f"{sign}1 " + " ".join(f"{j}:{sign}0.{j}" for j in range(1, 6)) for sign in "+-+-"]
    for _ in range(draw(st.integers(1, 3))):
        at, cells = draw(st.integers(0, len(rows) - 1)), draw(st.lists(TOKENS, max_size=6))
        row = rows[at].split(" ") if how == "file" else []
        place = draw(st.integers(0, len(row)))
        rows[at] = " ".join(row[:place] + cells + row[place + draw(st.integers(0, 2)) :])
    content = "\n".join(rows).encode("utf-8", "ignore")
    return draw(damaged(content)) if draw(st.booleans()) else content


@given(files(), st.sampled_from(["", ".csv"]), st.sampled_from(sorted(PACKED)), st.data())
@drawn()
def test_data(tmp_path, monkeypatch, content, kind, how, data_of):
    monkeypatch.setattr(data, "_DENSE_LIMIT", 2**20)
    path = tmp_path / f"a{kind}{how}"
    content = content.replace(b" ", b",") if kind else content
    packed = PACKED[how](content)
    path.write_bytes(data_of.draw(damaged(packed)) if how and data_of.draw(st.booleans()) else packed)
    read(path)


def read(path: Path) -> None:
    with unharmed(path.parent):
        try:
            found = load(path)
        except ValueError as error:
            assert "a" in sentence(error) and "\n" not in str(error)
        else:
            assert found.rows * found.d <= data._DENSE_LIMIT and abs(found.A).max() <= 1e100
            assert set(np.unique(found.b)) == {-1, 1}


def test_endless_data_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "_LINE_LIMIT", 1000)
    monkeypatch.setattr(data, "_FILE_LIMIT", 10_000)
    for name, content in (("line", b"1 1:1 #" + b" " * 2000), ("all", b"1 1:1\n-1 1:2\n" * 1000)):
        for suffix, pack in PACKED.items():
            path = tmp_path / f"{name}{suffix}"
            path.write_bytes(pack(content))
            with pytest.raises(
                ValueError, match=rf"{name}.* is not in LIBSVM's text format: line \d+: a line has more than"
            ):
                load(path)


def test_a_device_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(data, "_LINE_LIMIT", 2**20)
    with bounded(size=2**27), pytest.raises(ValueError, match="a line has more than"):
        load("/dev/zero")
