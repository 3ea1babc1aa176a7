"""Arguments and files drawn by Hypothesis: each is taken or refused in one sentence with status 2, never a traceback.

What a text or a file can make the readers do is bounded before it is done, and stored counterexamples are evaluated in
a process with limits of its own, so no example can hang or fill the memory. ``make test-slow`` draws 10,000.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fedtheory import claims, data, regions, tables
from fedtheory.data import load_libsvm
from verify import check, cli, limits, parsing, stored
from verify.cli import main
from verify.tightness import sweep


def drawn(examples: int) -> settings:
    """So many examples, the same in every run."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def counterexample() -> dict[str, Any]:
    found = check(claims.get("feddcd/lemma-B.8/rate")).counterexample
    assert found is not None
    return found.to_json()


def sentence(error: BaseException) -> str:
    """The message, which is one sentence for a terminal."""
    text = str(error)
    assert text and "Traceback" not in text and len(text) < 2000
    return text


# Arguments

WORDS = st.one_of(
    st.sampled_from(
        [
            *(
                "audit",
                "show",
                "list",
                "replay",
                "table",
                "map",
                "selftest",
                "tight",
                "completion",
                "--help",
                "--version",
            ),
            *("--budget", "--seed", "--jobs", "--data", "--clients", "--out", "--json", "--fail-on", "--latex", "--at"),
            *("--format", "--x", "--y", "--mutants", "--seeds", "-", "--", "", "quick", "bash", "refuted", "n=1e999"),
            *("--version", "~", "*", "'", "%s"),
            *("-1", "0", "1e9", "9" * 5000, "NaN", "1" * 20, "\x00", "\x1b[2J", "\ud800", "../..", "feddcd", "eq-6"),
        ]
    ),
    st.text(max_size=30),
)


def parse_anything(words: list[str]) -> None:
    try:
        cli.parser().parse_args(words)
    except ValueError as error:
        sentence(error)
    except SystemExit as left:
        # Help and the version.
        assert left.code == 0


def read_any_letters(text: str) -> None:
    for reader in (
        lambda: tables.assignments([text]),
        lambda: sweep.letters([text]),
        lambda: regions.axis(text),
        lambda: claims.select([text]),
        lambda: tables.get(text),
        lambda: parsing.real(text),
        lambda: parsing.expression(text, {}),
    ):
        try:
            reader()
        except ValueError as error:
            sentence(error)


LETTERS = st.one_of(
    st.text(max_size=30),
    st.from_regex(r"[a-z_]{0,6}=[-+0-9e.:naif/_]{0,12}", fullmatch=True),
    st.text("0123456789+-*/().,eE xMaxin", max_size=60),
)


@given(st.lists(WORDS, max_size=8))
@drawn(200)
def test_arguments(words):
    parse_anything(words)


@given(LETTERS)
@drawn(200)
def test_letters(text):
    read_any_letters(text)


@pytest.mark.slow
@given(st.lists(WORDS, max_size=8), LETTERS)
@drawn(10_000)
def test_10000_arguments(words, text):
    parse_anything(words)
    read_any_letters(text)


@given(st.sampled_from(["list", "show", "replay", "table", "tight", "audit"]), st.text(min_size=1, max_size=20))
@drawn(60)
def test_commands_refuse_in_one_line(tmp_path, monkeypatch, capsys, command, text):
    """A name that nothing has: one line on stderr without control characters, and nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    name = f"~{text}"
    status = main([command, name])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "") and err.startswith("fedtheory: ") and err.count("\n") == 1
    assert "\x1b" not in err and "Traceback" not in err and not list(tmp_path.iterdir())


# LIBSVM files

TOKENS = st.one_of(
    st.sampled_from(
        [
            *("1", "-1", "+1", "0", "2", "nan", "inf", "1e308", "-1e999", "1:1", "1:0.5", "2:-1", "3:1e308", "2:1e99"),
            *("1:nan", "0:1", "-1:1", ":", "1:", ":1", "1:1:1", "99999:1", "99999999999:1", "9" * 400 + ":1", "qid:1"),
            *("#", "# 1:1", "\x00", "\r", "\t", "0x10:1", "1:0x10", "1,2", "é", "\ufeff1", "1:١"),
        ]
    ),
    st.text(max_size=6),
    st.builds("{}:{}".format, st.integers(-2, 40), st.floats()),
)
SVM = st.one_of(
    st.binary(max_size=200),
    st.lists(st.lists(TOKENS, max_size=6).map(" ".join), max_size=8).map(lambda rows: "\n".join(rows).encode()),
    st.lists(st.tuples(st.sampled_from("+-"), st.lists(TOKENS, max_size=4))).map(
        lambda rows: "".join(f"{sign}1 {' '.join(cells)}\n" for sign, cells in rows).encode("utf-8", "ignore")
    ),
)


def read_any_data(path: Path, content: bytes, how: str) -> None:
    file = path / f"a{how}"
    file.write_bytes(gzip.compress(content, mtime=0) if how == ".gz" else content)
    try:
        found = load_libsvm(file)
    except ValueError as error:
        assert "a" in sentence(error) and "\n" not in str(error)
    else:
        assert found.rows * found.d <= data._DENSE_LIMIT and abs(found.A).max() <= 1e100


@given(SVM, st.sampled_from(["", ".gz", ".bz2"]))
@drawn(300)
def test_data(tmp_path, monkeypatch, content, how):
    monkeypatch.setattr(data, "_DENSE_LIMIT", 2**20)
    read_any_data(tmp_path, content, how)


@pytest.mark.slow
@given(SVM, st.sampled_from(["", ".gz", ".bz2"]))
@drawn(10_000)
def test_10000_data(tmp_path, monkeypatch, content, how):
    monkeypatch.setattr(data, "_DENSE_LIMIT", 2**20)
    read_any_data(tmp_path, content, how)


def test_endless_data_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "_LINE_LIMIT", 1000)
    monkeypatch.setattr(data, "_FILE_LIMIT", 10_000)
    for name, content in (("line", b"1 1:1 #" + b" " * 2000), ("all", b"1 1:1\n-1 1:2\n" * 1000)):
        for suffix, pack in (("", bytes), (".gz", gzip.compress)):
            path = tmp_path / f"{name}{suffix}"
            path.write_bytes(pack(content))
            with pytest.raises(ValueError, match=rf"{name}.* is not in LIBSVM's text format: a line has more than"):
                load_libsvm(path)


# Stored counterexamples

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**20, 10**30),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        ["9**9**9**9", "1e999999999", "-" * 5000 + "1", "1/0", "nan", "inf", "3/4", "0.1", "1e400", "mu", "="]
    ),
    st.builds(lambda text: {"ratio": text}, st.sampled_from(["1/3", "1e9999999", "0/0", "-1", "1e50000", "x", "10"])),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def paths(draw, value: Any) -> tuple[Any, ...]:
    """Where something stands in JSON."""
    where: tuple[Any, ...] = ()
    while isinstance(value, dict | list) and value and (not where or draw(st.booleans())):
        key = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        value, where = value[key], (*where, key)
    return where


def changed(value: Any, where: tuple[Any, ...], new: Any) -> Any:
    if not where:
        return new
    key, rest = where[0], where[1:]
    if isinstance(value, dict):
        return {**value, key: changed(value[key], rest, new)}
    return [changed(v, rest, new) if i == key else v for i, v in enumerate(value)]


def read_any_counterexample(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        found = stored.load(path)
    except ValueError as error:
        assert str(path) in sentence(error)
    else:
        assert found.relation == stored.relation(found.claim, found.part)


@given(st.data())
@drawn(300)
def test_counterexamples(tmp_path, counterexample, data):
    where, new = data.draw(paths(counterexample)), data.draw(VALUES)
    read_any_counterexample(tmp_path / "a.json", json.dumps(changed(counterexample, where, new)).encode())


@given(st.binary(max_size=100) | VALUES.map(lambda value: json.dumps(value).encode()))
@drawn(100)
def test_what_is_no_counterexample(tmp_path, content):
    read_any_counterexample(tmp_path / "a.json", content)


@pytest.mark.slow
@given(st.data())
@drawn(10_000)
def test_10000_counterexamples(tmp_path, counterexample, data):
    content = json.dumps(counterexample).encode()
    for _ in range(data.draw(st.integers(1, 3))):
        value = json.loads(content)
        content = json.dumps(changed(value, data.draw(paths(value)), data.draw(VALUES))).encode()
        assume(isinstance(json.loads(content), dict))
    at = data.draw(st.integers(0, len(content)))
    read_any_counterexample(tmp_path / "a.json", content[:at] + data.draw(st.binary(max_size=3)) + content[at:])


@given(st.data())
@drawn(30)
def test_replays_end(tmp_path, capfd, monkeypatch, counterexample, data):
    """Instances that nobody drew: confirmed, or refused in one line, within the limits."""
    monkeypatch.setattr(limits, "SECONDS", 5)
    name = data.draw(st.sampled_from(["recipe", "point", "entry", "left", "rounds"]))
    where = data.draw(paths(counterexample[name]))
    numbers = st.integers(-3, 40) | st.builds(lambda a: {"ratio": str(a)}, st.fractions()) | LEAVES
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**counterexample, name: changed(counterexample[name], where, data.draw(numbers))}))
    status = main(["replay", str(path)])
    out, err = capfd.readouterr()
    assert "Traceback" not in err and status in (0, 1, 2)
    assert (out == "" and err.count("\n") == 1 and "a.json" in err) if status == 2 else err == ""
