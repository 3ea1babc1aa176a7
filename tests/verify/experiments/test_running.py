"""Runs of figures: data that are there, tasks that resume after a kill, what is carried and told, bad input."""

import json
import math
import subprocess
from dataclasses import replace
from functools import partial

import pytest

from fedtheory.experiments import SEEDS, Curve, Figure, Less, Result, Source, Span, Stated, Within, known
from verify.cli import main
from verify.evidence.record import Outcome as Found
from verify.evidence.record import Sighting, tally
from verify.experiments import figures as stored
from verify.experiments import running
from verify.experiments.deciding import LEAST, Observed, decide
from verify.report import experiments, figures

CALLS = []


def measure(name, data, seeds):
    CALLS.append(name)
    if name in BROKEN:
        raise KeyboardInterrupt
    values = {f"a {name}": tuple(known(1 + seed) for seed in seeds), f"b {name}": (Span(50, math.inf),) * len(seeds)}
    return Result(values, (Curve("p", "x", "y", "a", (len(name),), (1.0,)),), (f"{name} tuned",))


BROKEN: set[str] = set()


def tasks(data, seeds):
    return {name: partial(measure, name, data, seeds) for name in ("one", "three")}


def read(paths):
    text = paths[0].read_text()
    if not text:
        raise ValueError(f"{paths[0]} is empty")
    return text


FIGURE = Figure(
    "mine/figure-1",
    "Figure 1",
    "a against b",
    (
        Stated("a is less than b", (Less(("a one",), ("b one",)), Less(("a three",), ("b three",)))),
        Stated("b is less than a", (Less(("b one",), ("a one",)),)),
        Stated("b is at most 60", (Within("b one", high=60),)),
        Stated("c is 1", (Within("c", 1, 1),)),
        Stated("of other data", (Within("a one"),), only=("other",)),
    ),
    (Source("rows", ("rows.txt",)), Source("other", ("other.txt",)), Source("far", ("far",), "it is far")),
    tasks,
    read,
)


@pytest.fixture
def mine(monkeypatch, tmp_path):
    CALLS.clear()
    BROKEN.clear()
    running._read.cache_clear()
    stored._entries.cache_clear()
    monkeypatch.setattr(stored, "figures", lambda: {FIGURE.id: FIGURE})
    monkeypatch.setattr(stored, "file_of", lambda figure: tmp_path / "seen.json")
    monkeypatch.setattr(running, "_code", lambda figure: "code")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "rows.txt").write_text("rows")
    return folder


def go(folder, out, seeds=9):
    (data,) = running.found(FIGURE, folder)
    (found,) = running.run([(FIGURE, data._replace(seeds=seeds))], out, 1, lambda line: None)
    return found


def test_statements_are_decided_over_seeds_and_carried(mine, tmp_path):
    record, drawn = go(mine, tmp_path / "out")
    said = {one.text: one.outcome for one in record.seen}
    assert said == {
        "a is less than b": Observed.SEEN,
        "b is less than a": Observed.NOT_SEEN,
        "b is at most 60": Observed.UNDECIDED,
    }
    # Where something was not seen its curves are kept; lines of several tasks are one.
    assert drawn[0].x == (3, 5) and record.curves
    stored.store(record)
    carried, other, far = stored.records(FIGURE.id)
    assert carried.seen == record.seen and carried.seeds == tuple(range(9))
    assert {one.outcome for one in other.seen} == {Observed.NOT_RUN}
    assert {one.outcome for one in far.seen} == {Observed.NO_DATA}
    text = "\n".join(experiments._figure(FIGURE, stored.records(FIGURE.id)))
    assert "| b is less than a | **not seen** |" in text and "**far**: no such data, it is far." in text
    figures.draw_curves("title", drawn, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_figures_are_told_in_order_while_their_tasks_are_shared_out_together(mine, tmp_path, monkeypatch):
    (data,) = running.found(FIGURE, mine)
    other = replace(FIGURE, id="mine/figure-2")
    monkeypatch.setattr(stored, "figures", lambda: {one.id: one for one in (FIGURE, other)})
    # Those of the second come first.
    monkeypatch.setattr(running, "sweep", lambda work, tasks, jobs, ordered: (work(*task) for task in tasks[::-1]))
    lines: list[str] = []
    found = running.run([(FIGURE, data), (other, data)], tmp_path / "out", 2, lines.append)
    assert [record.figure for record, _ in found] == [FIGURE.id, other.id]
    assert [line.split(",")[0] for line in lines] == [other.id, other.id, FIGURE.id, FIGURE.id]
    assert CALLS == ["three", "one", "three", "one"]


def test_a_run_goes_on_where_it_was_killed(mine, tmp_path):
    BROKEN.add("three")
    with pytest.raises(KeyboardInterrupt):
        go(mine, tmp_path / "out")
    BROKEN.clear()
    go(mine, tmp_path / "out")
    assert CALLS == ["one", "three", "three"]
    whole, _ = go(mine, tmp_path / "fresh")
    again, _ = go(mine, tmp_path / "out")
    assert again.seen == whole.seen and CALLS == ["one", "three", "three", "one", "three"]
    # Other data, other seeds, or what is no result, are no reason to believe a file.
    (mine / "rows.txt").write_text("others")
    go(mine, tmp_path / "out")
    go(mine, tmp_path / "out", seeds=5)
    next((tmp_path / "out").rglob("one.json")).write_text("{")
    go(mine, tmp_path / "out", seeds=5)
    assert len(CALLS) == 10


def test_data_of_somebody_are_named_after_their_file(mine):
    (mine / "own.gz").write_text("own")
    assert [data.name for data in running.found(FIGURE, mine / "own.gz")] == ["own"]
    assert [data.name for data in running.found(FIGURE, mine / "rows.txt")] == ["rows"]
    assert [data.name for data in running.found(FIGURE, mine)] == ["rows"]
    assert running.found(FIGURE, None) == []
    # What the text says of other files with data may be looked for in them.
    assert "of other data" in {s.text for s in stored._about(FIGURE, "own")}
    assert "of other data" not in {s.text for s in stored._about(FIGURE, "rows")}


def test_data_have_the_seeds_of_their_source_unless_others_are_asked_for(mine, monkeypatch, tmp_path, capsys):
    figure = replace(FIGURE, sources=(Source("rows", ("rows.txt",), seeds=48), Source("made", seeds=7)))
    monkeypatch.setattr(stored, "figures", lambda: {figure.id: figure})
    (mine / "own.txt").write_text("own")
    assert [data.seeds for data in running.found(figure, mine)] == [48, 7]
    assert [running.found(figure, mine / name)[0].seeds for name in ("rows.txt", "own.txt")] == [48, SEEDS]
    assert SEEDS == LEAST
    for asked, seeds in (([], 48), (["--seeds", "8"], 8)):
        out = str(tmp_path / f"out{seeds}")
        assert (
            main(["experiment", figure.id, "--data", str(mine / "rows.txt"), "--out", out, "--jobs", "1", *asked]) == 0
        )
        assert f"in {seeds} of {seeds} seeds" in capsys.readouterr().out


def test_it_is_told_what_would_decide_a_statement():
    def told(*held):
        outcome, seeds = decide(held)
        return stored.StoredDecision("a", outcome, held, seeds, "").summary

    assert told(*[True] * 6) == "in 6 of 6 seeds"
    assert told(*[True] * 5, False) == "in 5 of 6 seeds, 35 seeds would decide it"
    assert told(*[True, False] * 3) == "in 3 of 6 seeds, 1000 seeds would not decide it"
    assert told(*[None] * 4, False, False) == "in 0 of 6 seeds, open in 4, only longer runs could decide it"


def test_titles_and_headings_tell_figures_apart():
    places = [(id.split("/")[0], figure.where) for id, figure in stored.figures().items()]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine/figure-2"], "unknown figure"),
        (["nothing-alike"], "there are mine/figure-1"),
        (["mine/figure-1", "--data", "nothing"], "no file or folder"),
        (["mine/figure-1", "--data", "empty"], "is empty"),
        (["mine/figure-1", "--seeds", "4", "--carry"], "need at least 6 seeds"),
        (["mine/figure-1", "--seeds", "0"], "at least 1"),
    ],
)
def test_bad_input_is_a_line_and_status_2(mine, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_text("")
    assert main(["experiment", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and CALLS == []


def test_the_command_tells_what_was_seen(mine, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["experiment", "mine/figure-1", "--data", str(mine), "--out", str(out), "--jobs", "1", "--carry"]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    assert "a is less than b: seen (in 6 of 6 seeds" in told and "mine/figure-1 on far: no such data, it is far" in told
    assert (out / "mine_figure-1_rows.png").exists()
    assert json.loads((tmp_path / "seen.json").read_text())[0]["source"] == "rows"


def test_a_name_means_one_figure_where_it_is_one(mine, tmp_path, monkeypatch, capsys):
    both = {FIGURE.id: FIGURE, f"{FIGURE.id}/tuned": replace(FIGURE, id=f"{FIGURE.id}/tuned")}
    monkeypatch.setattr(stored, "figures", lambda: both)
    for name, times in (("mine/figure-1", 2), ("mine", 4), ("all", 4)):
        CALLS.clear()
        out = str(tmp_path / name.replace("/", "-"))
        assert main(["experiment", name, "--data", str(mine), "--out", out, "--jobs", "1"]) == 0
        assert len(CALLS) == times


def test_outcomes_hold_what_is_seen_in_json():
    one = Sighting("mine/figure-1", "rows", "a", "seen", "", 9, "2026-01-01", "abc")
    outcome = Found("experiment", "", None, "", sightings=(one, one._replace(said="not run")))
    assert Found.from_json(json.loads(json.dumps(outcome.to_json()))).sightings == outcome.sightings
    assert tally(outcome.sightings) == "1 seen, 1 not run"


def test_a_commit_is_marked_where_code_was_changed_and_not_by_what_is_carried(tmp_path):
    def git(*words):
        told = ("-c", "user.name=a", "-c", "user.email=a@b.c", *words)
        return subprocess.run(["git", *told], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    assert running.commit(tmp_path / "nowhere") == ""
    package, other = tmp_path / "package", tmp_path / "papers"
    for path in (package / "running.py", other / stored.NAME, other / "runs.py", tmp_path / "docs" / "page.md"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("1\n")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    head = git("rev-parse", "HEAD")[:10]
    for path in (other / stored.NAME, tmp_path / "docs" / "page.md"):
        path.write_text("2\n")
    assert running.commit(package) == head
    (other / "runs.py").write_text("2\n")
    assert running.commit(package) == f"{head} and changes"


def test_results_of_other_theory_are_not_taken_up_and_those_beside_other_papers_are(monkeypatch, tmp_path):
    figure, inside, changed = stored.get("fedadmm/table-1"), running.plugins.inside, tmp_path / "changed.py"
    before = running._code(figure)
    changed.write_text("")
    for name, same in (("fedtheory/experiments.py", False), ("fedtheory/papers/locodl/claims.py", True)):
        monkeypatch.setattr(running.plugins, "inside", lambda top, name=name: inside(top) | {name: changed})
        assert (running._code(figure) == before) is same
