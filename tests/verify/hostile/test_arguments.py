"""Command lines: each is taken or refused in one line with status 2, and nothing is written before all is right."""

from __future__ import annotations

from typing import Any

import pytest
from hostile import bounded, drawn, refusal, sentence, unharmed
from hypothesis import given
from hypothesis import strategies as st

from fedtheory import claims, tables
from fedtheory.tables import regions
from verify import agent, checking
from verify.cli import arguments, auditing, main
from verify.conformance import trace_file
from verify.evidence import parsing
from verify.mutation import selftest
from verify.tightness import measure, sweep

COMMANDS = (
    "audit",
    "list",
    "show",
    "why",
    "replay",
    "check",
    "table",
    "map",
    "selftest",
    "tight",
    "best",
    "completion",
)
COMMANDS += ("check-trace", "trace", "atlas")
OPTIONS = (
    "--budget",
    "--seed",
    "--jobs",
    "--data",
    "--clients",
    "--out",
    "--json",
    "--fail-on",
    "--latex",
    "--at",
    "-h",
)
OPTIONS += ("--format", "--x", "--y", "--mutants", "--seeds", "--regions", "--own", "--check", "--verdict", "--html")
OPTIONS += (
    "--backend",
    "--scheduler",
    "--no-cache",
    "--level",
    "--tolerance",
    "--rounds",
    "--iterates",
    "--hide-draws",
)
PLAIN = (
    *("-", "--", "", "quick", "full", "bash", "refuted", "n=1e999", "--help", "--version", "--version", "~", "*", "'"),
    *("%s", "-1", "0", "1", "1e9", "9" * 5000, "NaN", "inf", "1" * 20, "\x00", "\x1b[2J", "\ud800", "../..", "feddcd"),
    *("eq-6", "locodl/eq-6", "locodl/table-2", "rates", "text", "n=100", "kappa=1e4", "n=1:1e6", "n=0:0", "n=nan:2"),
    *("diana", "/dev/null", "/dev/zero", ".", "/", "none.json", "a.png", "/proc/self/mem", "tcp://", "dask", "json"),
)
WORDS = st.sampled_from((*COMMANDS, *OPTIONS, *PLAIN)) | st.text(max_size=30)
LETTERS = st.one_of(
    st.text(max_size=30),
    st.from_regex(r"[a-z_]{0,6}=[-+0-9e.:naif/_]{0,12}", fullmatch=True),
    st.text("0123456789+-*/().,eE xMaxin", max_size=60),
)


@given(st.lists(WORDS, max_size=8))
@drawn()
def test_arguments(words):
    with bounded():
        try:
            arguments.parser().parse_args(words)
        except ValueError as error:
            sentence(error)
        except SystemExit as left:
            # Help and the version.
            assert left.code == 0


@given(LETTERS)
@drawn()
def test_letters(text):
    for reader in (
        lambda: tables.assignments([text]),
        lambda: sweep.letters([text]),
        lambda: regions.axis(text),
        lambda: claims.select([text]),
        lambda: tables.get(text),
        lambda: parsing.real(text),
        lambda: parsing.expression(text, {}),
    ):
        with bounded():
            try:
                reader()
            except ValueError as error:
                sentence(error)


@given(st.sampled_from([c for c in COMMANDS if c not in ("completion", "selftest")]), st.text(min_size=1, max_size=20))
@drawn(0.4)
def test_a_name_that_nothing_has(tmp_path, monkeypatch, capsys, command, text):
    monkeypatch.chdir(tmp_path)
    with unharmed(tmp_path):
        status = main([command, f"~{text}"])
    refusal(status, *capsys.readouterr())


class Reached(Exception):
    """The arguments are right, and what they ask for begins: how that ends is told by other tests."""


@st.composite
def lines(draw: Any) -> list[str]:
    """A command with what it needs, and a few options that may be its own."""
    needs = {
        "show": ["locodl/eq-6"],
        "why": ["locodl"],
        "replay": ["none.json"],
        "check": ["none.py"],
        "table": ["locodl/table-2"],
        "map": ["locodl/table-2", "--x", "n=1:1e6", "--y", "d=1:1e6"],
        "tight": ["locodl/eq-6"],
        "completion": ["bash"],
        "check-trace": ["diana", "none.npz"],
        "trace": ["diana", "--out", "none.npz"],
    }
    command = draw(st.sampled_from(COMMANDS))
    found = [*needs.get(command, [])]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(found)))
        how = draw(st.sampled_from(["option", "option", "word", "less"]))
        if how == "less":
            del found[at : at + 1]
        else:
            new = [draw(WORDS | LETTERS)]
            found[at:at] = [draw(st.sampled_from(OPTIONS)), *new] if how == "option" else new
    return [command, *found]


@given(lines())
@drawn(0.4)
def test_commands(tmp_path, monkeypatch, capfd, words):
    """What takes long is not begun, and what is written stands where the test has its files."""

    def reached(*args: Any, **more: Any) -> Any:
        raise Reached

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", reached)
    for module, name in (
        *(
            (auditing, "audit"),
            (agent, "run_serve"),
            (checking, "check"),
            (measure, "experiments"),
            (selftest, "holding"),
            (sweep, "measure"),
        ),
        *((regions, "regions"), (trace_file, "record")),
    ):
        monkeypatch.setattr(module, name, reached)
    # Absolute paths would be those of this machine.
    if any(word.startswith("/") and word not in ("/dev/null", "/dev/zero") for word in words):
        words = [word.lstrip("/") for word in words]
    try:
        with bounded():
            status = main(words)
    except Reached:
        capfd.readouterr()
        return
    except SystemExit as left:
        assert left.code == 0
        capfd.readouterr()
        return
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    if status == 2 and out.startswith('{\n "format": "fedtheory-answer-1"'):
        # As data it is said on stdout too.
        out = ""
    if status == 2:
        refusal(status, out, err)
    else:
        assert status in (0, 1) and out


@pytest.mark.parametrize(
    "argument",
    [
        *("--level=0", "--level=1", "--level=-1", "--level=nan", "--level=inf", "--level=1e-400"),
        *("--tolerance=-1", "--tolerance=1", "--tolerance=nan", "--tolerance=inf"),
    ],
)
def test_levels_and_tolerances_that_are_none(tmp_path, capsys, argument):
    path = tmp_path / "run.npz"
    trace_file.record("diana", path, 2)
    refusal(main(["check-trace", "diana", str(path), argument]), *capsys.readouterr())


@pytest.mark.parametrize("rounds", ["0", "-1", "1000000000000"])
def test_traces_that_are_too_long(tmp_path, capsys, rounds):
    with unharmed(tmp_path):
        status = main(["trace", "diana", "--out", str(tmp_path / "run.npz"), f"--rounds={rounds}"])
    refusal(status, *capsys.readouterr())
