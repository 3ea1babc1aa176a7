"""Recorded runs: files that are no npz, arrays that are not what their headers say, numbers that fit no method."""

from __future__ import annotations

import io
import os
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import hostile
import numpy as np
import pytest
from hostile import bounded, damaged, drawn, sentence, unharmed
from hypothesis import given
from hypothesis import strategies as st

from verify import conformance
from verify.cli import conforming, main
from verify.conformance import npz, trace_file

#: One for each way in which a problem, parameters and draws are written.
NAMES = ("diana", "locodl", "feddcd", "fedadmm", "scaffold", "ef21", "minibatch-sgd", "fsvrg", "cocoa-plus")
TEXTS = st.text(max_size=10) | st.sampled_from(
    [
        *("rand-999999999", "rand-0", "rand-1", "rand-1 natural", "natural", "l1-selection", "top-0", "top-99999"),
        *(
            "bernoulli(omega=1e999999999)",
            "bernoulli(omega=1/0)",
            "bernoulli(omega=-1)",
            "bernoulli(omega=" + "9" * 900,
        ),
        *("uniform-2x9999", "uniform-0", "covering-1x2", "covering-2x9999", "inner-999999", "inner-0", "exact"),
        *("passes-999999", "scaled rand-1", "scaled scaled natural", "logistic", "least-squares", "independent"),
        *("shared", "own", "equal", "I", "II", "III", "9" * 5000, "x" * 999, "\x1b[2J\n"),
    ]
)
NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 1e-320, np.nan, np.inf, 3.0, 1e6, 2.0**70])
INTEGERS = st.sampled_from([0, 1, -1, 2, 3, 7, 10**6, 10**9, 2**62, -(2**63)])


class Runs:
    """What unpickling would do: make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


@cache
def recorded(name: str, folder: Path) -> tuple[dict[str, Any], ...]:
    """The arrays of runs with all, without draws, and of iterates alone."""
    found = []
    for options in ({}, {"draws": False}, {"states": False}):
        path = folder / "recorded.npz"
        conformance.record(name, path, rounds=3, **options)
        with np.load(path) as file:
            found.append({key: file[key] for key in file.files})
        path.unlink()
    return tuple(found)


@st.composite
def arrays(draw: Any, like: Any) -> Any:
    """An array that has something of another."""
    value = np.asarray(like)
    how = draw(st.sampled_from(["entry", "entry", "number", "integer", "text", "shape", "type", "part", "more"]))
    if how == "entry" and value.size and value.dtype.kind in "iuf":
        value = value.copy()
        new = draw(NUMBERS if value.dtype.kind == "f" else INTEGERS.filter(lambda v: abs(v) < 2**62))
        value.reshape(-1)[draw(st.integers(0, value.size - 1))] = new
        return value
    if how == "number":
        return np.full(draw(st.sampled_from([(), value.shape, (0,), (3, 3)])), draw(NUMBERS))
    if how == "integer":
        return np.full(draw(st.sampled_from([(), value.shape, (2,)])), draw(INTEGERS))
    if how == "shape":
        return draw(st.sampled_from([value.reshape(-1), value[None], value[..., None], value.T, value.reshape(-1)[:0]]))
    if how == "type" and value.dtype.kind in "biuf":
        kinds = ["f2", "f4", ">f8", "g", "c16", "i1", "u8", "?", "U8", "S8", "M8[s]", "V8"]
        with np.errstate(all="ignore"):
            return value.astype(draw(st.sampled_from(kinds)))
    if how == "part" and value.ndim:
        return value[: draw(st.integers(0, len(value)))]
    if how == "more" and value.ndim:
        return np.concatenate([value, value])
    return np.asarray(draw(TEXTS))


@st.composite
def headers(draw: Any) -> bytes:
    """A part of the file whose header says more than it holds, or nothing that can be read."""
    shape = draw(
        st.sampled_from(
            [
                *("(9999999999999,)", "(2, 3)", "(-1,)", "(0, 99999999999)", "(99999999, 99999999, 99999999)", "9"),
                *("(1.5,)", "(" * 200 + "1" + ")" * 200, "(True,)", "__import__('os').mkdir('here')", "()", "('a',)"),
                "(1,) * 10**9",
            ]
        )
    )
    kind = draw(
        st.sampled_from(["<f8", "|O", "<U0", "<U999999999", "|V0", "<i8", "x", "f8,f8", "<c16", "[('a', 'O')]"])
    )
    order = draw(st.sampled_from(["False", "True", "0", "[]"]))
    text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    version = draw(st.sampled_from([b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x09"]))
    length = len(text) if draw(st.booleans()) else draw(st.integers(0, 2**16 - 1))
    size = length.to_bytes(2, "little") if version == b"\x01\x00" else length.to_bytes(4, "little")
    return b"\x93NUMPY" + version + size + text + draw(st.binary(max_size=24))


def packed(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def written(value: Any, pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=pickle)
    return buffer.getvalue()


@st.composite
def traces(draw: Any, folder: Path) -> tuple[str, bytes]:
    """The name of a method, and the bytes of a file that is almost a run of it."""
    name = draw(st.sampled_from(NAMES))
    found = dict(draw(st.sampled_from(recorded(name, folder))))
    parts: dict[str, bytes] = {}
    for _ in range(draw(st.integers(1, 3))):
        key = draw(st.sampled_from(sorted(found)))
        how = draw(st.sampled_from(["array", "array", "array", "less", "named", "runs", "header", "object"]))
        if how == "array":
            found[key] = draw(arrays(found[key]))
        elif how == "less" and len(found) > 1:
            del found[key]
        elif how == "named":
            found[draw(st.sampled_from(["draw", "runs", "problem.L", "x", "../../x", "params.gamma"]))] = found[key]
        elif how == "runs":
            found["runs"] = np.asarray(2)
        elif how == "header":
            parts[f"{key}.npy"] = draw(headers())
        elif how == "object":
            parts[f"{key}.npy"] = written(np.array([Runs(folder / "run")], dtype=object), pickle=True)
    whole = {f"{key}.npy": written(value) for key, value in found.items()} | parts
    content = packed(whole)
    return name, draw(damaged(content)) if not draw(st.integers(0, 4)) else content


def read(name: str, path: Path) -> trace_file.Trace | None:
    with unharmed(path.parent):
        try:
            return trace_file.load(name, path)
        except ValueError as error:
            assert str(path) in sentence(error)
    return None


@given(st.data())
@drawn()
def test_traces(tmp_path, data):
    name, content = data.draw(traces(tmp_path))
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    read(name, path)


@given(st.data())
@drawn(0.1)
def test_checks_of_traces_end(tmp_path, capfd, monkeypatch, data):
    monkeypatch.setattr(conforming, "_SECONDS", 5)
    name, content = data.draw(traces(tmp_path))
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    with bounded(60):
        status = main(["check-trace", name, str(path)])
    out, err = capfd.readouterr()
    if status == 2:
        hostile.refusal(status, out, err)
    else:
        assert status in (0, 1) and out and not err
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_does(tmp_path, monkeypatch):
    monkeypatch.setattr(npz, "BYTES", 2**20)
    path = tmp_path / "run.npz"
    path.write_bytes(packed({"a.npy": written(np.zeros(1))[:-8] + bytes(2**27)}))
    assert path.stat().st_size < 2**20
    with bounded(size=2**26), pytest.raises(ValueError, match="more than 1048576 bytes"):
        npz.read(path)


def test_objects_are_never_unpickled(tmp_path):
    path = tmp_path / "run.npz"
    evil = written(np.array([Runs(tmp_path / "run")], dtype=object), pickle=True)
    for content in (packed({"algorithm.npy": evil}), evil, packed({"algorithm": evil})):
        path.write_bytes(content)
        assert read("diana", path) is None
    assert not (tmp_path / "run").exists()
