"""The results that the package carries, and what `list`, `show` and `why` tell of them."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace

import pytest
import sympy
from first_found import of_registered

from fedtheory import claims
from verify import Counterexample, Evidence, Verdict, check, checking, results
from verify.audit import FAILED
from verify.cli import carry as storing
from verify.cli import main
from verify.evidence import formats
from verify.report import consoles, failures, statement, why
from verify.results import shipped

REFUTED = "feddcd/theorem-6.1/eq-10"
FALLING = [c for c in claims.all() if shipped().verdict(c.id) in why.FAILED]


def run(capsys, *argv: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    status = main(argv)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def carried(monkeypatch):
    """Sets what is carried, from the real results."""

    def carry(**changes) -> None:
        found = shipped()._replace(**changes)
        monkeypatch.setattr(results, "shipped", lambda: found)

    return carry


# The file


def test_a_file_is_read_as_it_was_written():
    found = shipped()
    text = results.written(found)
    assert results.read(text) == found and json.loads(text) == formats.named(
        "audit", json.loads(results.FILE.read_text())
    )
    # One claim a line.
    assert len(text.splitlines()) == len(found.entries) + 2


def test_the_results_say_of_what_they_are():
    found = shipped()
    assert len(found.commit) == 40 and len(found.code) == 64 and found.budget in checking.BUDGETS
    assert found.date in found.origin and found.commit[:10] in found.origin


def test_the_package_has_the_results_as_data():
    import tomllib

    from places import ROOT

    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["verify"]
    assert results.FILE.relative_to(ROOT / "verify").as_posix() in data


def test_evidence_is_read_as_it_was_found():
    claim = claims.get("feddcd/lemma-B.8/rate")
    found = check(claim)
    entry = json.loads(json.dumps(found.to_json()))
    again = Evidence.from_json(claim, entry)
    assert again.to_json() == entry and again.counterexample == found.counterexample
    assert again.counterexample == Counterexample.from_json(entry["counterexample"])


def test_every_entry_can_be_read():
    for id, entry in shipped().entries.items():
        found = Evidence.from_json(claims.get(id), entry)
        # Reals of fifty digits are read as the fractions that they are written as.
        unread = {"counterexample": 0, results.RESTS_ON: 0}
        assert found.to_json() | unread == entry | unread
        if found.counterexample is not None:
            assert found.counterexample == Counterexample.from_json(entry["counterexample"])


def test_only_a_whole_audit_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FILE", results.FILE.with_name("none.json"))
    monkeypatch.setattr(storing.files, "write", lambda path, text: written.append(text))
    written: list[str] = []
    found = shipped()
    # A claim that is new has no result yet.
    known = tuple(claim for claim in claims.all() if claim.id in found.entries)
    monkeypatch.setattr(claims, "all", lambda: known)
    audit = tmp_path / "audit.json"
    head = {"version": found.version, "seed": 3, "budget": "full"}
    entries = list(found.entries.values())
    audit.write_text(json.dumps(head | {"claims": entries}))
    storing.main(audit)
    (text,) = written
    again = results.read(text)
    assert again.gists == {c.id: c.gist for c in claims.all()}
    assert again.entries == found.entries and (again.seed, again.budget) == (3, "full") and len(again.commit) == 40
    failed = entries[0] | {"note": f"{FAILED}: ZeroDivisionError"}
    for lacking in (entries[1:], [failed, *entries[1:]]):
        audit.write_text(json.dumps(head | {"claims": lacking}))
        with pytest.raises(ValueError, match=f"1 were not tested, such as {entries[0]['id']}"):
            storing.main(audit)


def test_verdicts_that_changed_are_told():
    found = shipped()
    same = {id: entry["verdict"] for id, entry in found.entries.items()}
    assert found.changes(same, found.seed, found.budget) == []
    other = same | {REFUTED: "supported", "own/claim": "proved"}
    assert found.changes(other, found.seed, found.budget) == [f"{REFUTED}: was refuted, is supported"]
    assert found.changes(other, found.seed + 1, found.budget) == []


@pytest.mark.parametrize(("verdict", "lines"), [("proved", 0), ("certified", 1)])
def test_an_audit_ends_with_the_verdicts_that_changed(capsys, tmp_path, carried, verdict, lines):
    entries = shipped().entries
    carried(entries=entries | {"locodl/regimes": entries["locodl/regimes"] | {"verdict": verdict}})
    status, out, _ = run(capsys, "audit", "locodl/regimes", "--jobs", "1", "--out", str(tmp_path))
    told = [line for line in out.splitlines() if line.strip() == "locodl/regimes: was certified, is proved"]
    assert status == 0 and len(told) == lines and (": was " in out) == bool(lines)


# list


def test_list_tells_the_verdicts(capsys, carried):
    _, out, _ = run(capsys, "list", "feddcd/theorem-6.1")
    assert [line.split("\t")[:2] for line in out.splitlines()] == [
        [c.id, shipped().verdict(c.id)] for c in claims.select(["feddcd/theorem-6.1"])
    ]
    carried(entries={})
    _, out, _ = run(capsys, "list", REFUTED)
    assert out.startswith(f"{REFUTED}\t-\t")


def test_list_selects_by_verdict(capsys):
    _, out, _ = run(capsys, "list", "--verdict", "refuted", "--verdict", "ill-posed")
    assert [line.split("\t")[0] for line in out.splitlines()] == [c.id for c in FALLING]
    status, out, err = run(capsys, "list", "baseline", "--verdict", "ill-posed")
    assert (status, out, err) == (0, "", "")


# show


@pytest.fixture
def never(monkeypatch):
    """Nothing may be computed."""

    def fail(*args: object) -> None:
        raise AssertionError("a claim was tested")

    monkeypatch.setattr("verify.checking.check", fail)


def test_show_computes_nothing(capsys, never):
    found = shipped()
    status, out, _ = run(capsys, "show", REFUTED)
    assert status == 0 and f"shipped results {found.origin}" in out and "verdict: refuted" in out
    # The seed and the budget of the results are those of the results.
    assert run(capsys, "show", REFUTED, "--seed", str(found.seed), "--budget", found.budget)[1] == out


@pytest.mark.parametrize("more", [("--check",), ("--seed", "7"), ("--budget", "full")])
def test_show_computes_what_is_asked_for(capsys, monkeypatch, more):
    asked = []
    monkeypatch.setattr("verify.checking.check", lambda *args: asked.append(args) or of_registered(args[0].id))
    status, out, err = run(capsys, "show", "locodl/eq-6", *more)
    assert (status, err, len(asked)) == (0, "", 1) and "shipped results" not in out and "verdict: proved" in out
    assert asked[0][1:3] == (7 if "7" in more else shipped().seed, "full" if "full" in more else shipped().budget)


def test_show_computes_what_is_not_carried(capsys, carried):
    carried(entries={})
    status, out, err = run(capsys, "show", "locodl/regimes")
    assert (status, err) == (0, "") and "shipped results" not in out and "verdict: proved" in out


@pytest.mark.parametrize("command", ["list", "show", "why"])
@pytest.mark.parametrize("current", [True, False])
def test_results_of_other_code_are_told(capsys, carried, command, current):
    carried(code=results.code() if current else "0" * 64)
    status, out, err = run(capsys, command, REFUTED)
    # Each line of a list is a claim.
    told, other = (err, out) if command == "list" else (out, err)
    assert status == 0 and ("another version of the code" in told) != current
    assert "these results" not in other and (command == "list" or not err)


def test_progress_counts_the_methods():
    done = []
    check(claims.get("locodl/regimes"), progress=lambda: done.append(1))
    assert len(done) == len(checking.METHODS)


def test_a_counterexample_that_is_carried_is_replayed_by_its_id(capsys):
    status, out, err = run(capsys, "replay", REFUTED)
    assert (status, err) == (0, "") and "64/729 <= 1/12" in out and "contradict the claim" in out


# What printed proofs rest on


def test_every_proof_rests_on_claims_of_its_paper_and_on_none_of_itself():
    known = {c.id for c in claims.all()}
    for claim in claims.all():
        assert set(claim.uses) <= known - {claim.id} and len(set(claim.uses)) == len(claim.uses)
        assert all(id.startswith(f"{claim.paper}/") for id in claim.uses)


def test_no_proof_leads_back_to_itself():
    uses = {c.id: set(c.uses) for c in claims.all()}
    while free := {id for id, rest in uses.items() if not rest}:
        uses = {id: rest - free for id, rest in uses.items() if id not in free}
    assert not uses


@pytest.mark.parametrize("claim", FALLING, ids=lambda c: c.id)
def test_every_claim_that_falls_has_a_step_that_fails(claim):
    culprits = why.failed(claim, shipped().verdicts)
    assert claim.flaw or culprits
    # At the end of every chain a step is named.
    assert claim.flaw or any(u.claim.flaw for u in culprits)


def test_only_claims_that_fall_have_a_flaw():
    assert {c.id for c in claims.all() if c.flaw} <= {c.id for c in FALLING}


def test_what_falls_behind_a_claim_that_holds_is_not_to_blame():
    found = shipped().verdicts
    claim, between = claims.get("fedadmm/theorem-4.1/c"), claims.get("fedadmm/lemma-C.2/c")
    assert between.id in claim.uses and found[between.id] not in why.FAILED
    assert "fedadmm/eq-21" in {u.claim.id for u in why.failed(between, found)}
    assert "fedadmm/eq-21" not in {u.claim.id for u in why.failed(claim, found)}


# why


def test_why_tells_the_counterexample_the_step_and_the_repair(capsys, never):
    status, out, _ = run(capsys, "why", REFUTED)
    assert status == 0
    for part in (
        f"{REFUTED}  (Theorem 6.1): refuted",
        "left: E[G(y^T)-G*] = 64/729, about 0.0877915",
        "claimed 64/729 <= 1/12, which is false",
        f"fedtheory replay {REFUTED}",
        "it relies on feddcd/theorem-D.1 (Theorem D.1), which is refuted",
        claims.get("feddcd/theorem-D.1").flaw,
        f"the repaired statement: {REFUTED}/repaired: proved",
        "(G(y^0)-G*)*{1 + ",
    ):
        assert part in out


def test_why_follows_what_is_used_through_what_falls(capsys):
    _, out, _ = run(capsys, "why", "feddcd/theorem-5.2/zeta")
    assert "feddcd/lemma-C.2 (Lemma C.2), through feddcd/theorem-5.2/eq-9, feddcd/lemma-E.1/inexact, which is" in out


def test_why_of_a_claim_that_holds_says_on_what_it_rests(capsys):
    _, out, _ = run(capsys, "why", "locodl/theorem-3.1/eq-5")
    assert (
        "it holds: proved" in out and "locodl/theorem-3.1/one-step: proved" in out and "fails as it stands" not in out
    )
    _, out, _ = run(capsys, "why", "feddcd/theorem-6.1/eq-11")
    assert re.search(r"\d+ certificates", out) and f"{REFUTED}: refuted" in out and "fails as it stands" in out


def test_why_of_what_only_z3_decides_says_how_it_is_checked_elsewhere(capsys):
    _, out, _ = run(capsys, "why", "locodl/no-harm")
    assert "fedtheory export locodl/no-harm writes a proof that something else checks" in out


def test_why_of_what_is_ill_posed_says_what_is_wrong(capsys):
    _, out, _ = run(capsys, "why", "fedadmm/algorithm-1/initial-state")
    assert "what is wrong" in out and claims.get("fedadmm/algorithm-1/initial-state").flaw in out


def test_why_tells_what_is_printed_and_what_is_meant(capsys):
    _, out, _ = run(capsys, "why", "feddcd/lemma-B.8/rate")
    letter, meant = claims.get("feddcd/lemma-B.8/rate"), claims.get("feddcd/lemma-B.8/rate/repaired")
    assert "\n  false only if read literally\n" in out and f"\n  as printed: {letter.formula}\n" in out
    assert f"\n  intended statement: {meant.id}, {shipped().verdict(meant.id)}: {meant.gist}\n" in out
    _, out, _ = run(capsys, "why", meant.id)
    assert f"\n  literal reading: {letter.id}, refuted: " in out
    _, out, _ = run(capsys, "why", REFUTED)
    assert "\n  false as meant\n" in out and "literally" not in out
    _, out, _ = run(capsys, "why", "fedopt/fsvrg/property-b")
    assert "\n  false, but not printed\n" in out and "as printed" not in out


def test_why_of_a_paper_tells_all_that_falls(capsys):
    status, out, _ = run(capsys, "why", "feddcd")
    wanted = [c for c in FALLING if c.paper == "feddcd"]
    heads = [line for line in out.splitlines() if not line.startswith(" ")]
    groups = failures.grouped(claims.select(["feddcd"]), shipped().verdicts)
    told = [part for way, ids in groups.items() for part in (f"{way}:", *ids)]
    assert status == 0 and [head.split("  ")[0] for head in heads[1:]] == told
    assert sum(len(ids) for ids in groups.values()) == len(wanted)
    counted = f" claims do not hold ({failures.counted(groups, claims.all())}); "
    assert heads[0].startswith(f"{len(wanted)} of ") and counted in heads[0]
    assert out.count("  repaired: ") + out.count("  repaired, as intended: ") == sum(
        c.repairs in {w.id for w in wanted} for c in claims.all()
    )


def test_why_of_a_paper_follows_each_chain_to_its_end(capsys):
    _, out, _ = run(capsys, "why", "feddcd/theorem-5.2")
    _, _, told = out.partition("feddcd/theorem-5.2/zeta  (Theorem 5.2): refuted")
    step = next(line for line in told.splitlines() if line.startswith("  step: it relies on what is false: "))
    assert "feddcd/lemma-C.2 (Lemma C.2)" in step and "feddcd/theorem-C.1 (Theorem C.1)" in step
    # What is between leads there, and has no error of its own.
    assert "feddcd/theorem-5.2/eq-9 (" not in step


@pytest.mark.parametrize("claim", FALLING, ids=lambda c: c.id)
def test_the_end_of_a_chain_has_an_error_of_its_own(claim):
    assert all(used.claim.flaw for used in why.ends(claim, shipped().verdicts))


OWN = """
from fedtheory import Claim, Inequality, Setting, letters
a, b = letters("a b")
setting = Setting("all values", letters=(a, b))
CLAIMS = (
    Claim("mine/end", "page 1", setting=setting, statement=Inequality(a, b), flaw="a slip"),
    Claim("mine/middle", setting=setting, statement=Inequality(a + 1, b), uses=("mine/end",)),
    Claim("mine/start", setting=setting, statement=Inequality(a + 2, b), uses=("mine/middle",)),
    Claim("mine/start/repaired", setting=setting, statement=Inequality(a, a + b), repairs="mine/start"),
    Claim("mine/alone", setting=setting, statement=Inequality(a, b)),
)
"""


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    return str(file)


def test_why_tests_claims_of_ones_own(capsys, own):
    status, out, _ = run(capsys, "why", "mine/start", "--own", own)
    assert status == 0 and out.startswith("mine/start: refuted\ncounterexample\n")
    assert "it relies on mine/end (page 1), through mine/middle, which is refuted" in out and "    a slip" in out
    assert "the repaired statement: mine/start/repaired: proved" in out
    # There is nothing carried to replay.
    assert f"to replay it exactly: fedtheory check {own} mine/start --out DIR" in out
    _, out, _ = run(capsys, "why", "mine/alone", "--own", own)
    assert "refuted" in out and "step" not in out


def test_why_of_all_claims_of_ones_own_tells_which_fall(capsys, own):
    status, out, _ = run(capsys, "why", "mine", "--own", own)
    heads = [line for line in out.splitlines() if not line.startswith(" ")]
    assert status == 0 and heads[1:4] == ["mine/end  (page 1): refuted", "mine/middle: refuted", "mine/start: refuted"]
    assert out.count("it relies on what is false: mine/end (page 1)") == 2 and "4 of 5 claims do not hold" in out


MEANT = """
from fedtheory import Claim, Inequality, Setting, letters
a, b = letters("a b")
said = dict(setting=Setting("all values", letters=(a, b)), where="page 2", origin="printed")
CLAIMS = (
    Claim("mine/meant", statement=Inequality(a, a + b), formula="a < a + b", **said),
    Claim("mine/meant/literal", statement=Inequality(a, b), formula="a < b", literal_of="mine/meant", **said),
    Claim("mine/plain", setting=said["setting"], statement=Inequality(a + 2, b)),
)
"""


def test_why_tells_what_a_letter_of_ones_own_means(capsys, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MEANT)
    _, out, _ = run(capsys, "why", "mine/meant/literal", "--own", str(file))
    assert "\n  false only if read literally\n  as printed: a < b\n  intended statement: mine/meant, proved\n" in out
    _, out, _ = run(capsys, "why", "mine", "--own", str(file))
    heads = [line for line in out.splitlines() if not line.startswith(" ")]
    assert "2 of 3 claims do not hold (1 false only if read literally; 1 false); " in heads[0]
    assert heads[1] == "false only if read literally:" and heads[3] == "false:"
    file.write_text(MEANT.replace("page 2", "somewhere"))
    status, _, err = run(capsys, "check", str(file))
    assert status == 2 and err.count("\n") == 1 and "mine/meant is printed: where must name" in err


def test_the_command_that_is_told_replays_a_counterexample_of_ones_own(capsys, own, tmp_path):
    _, _, err = run(capsys, "check", own, "--out", str(tmp_path / "out"))
    (told,) = [line for line in err.splitlines() if line.startswith("mine/start: fedtheory replay ")]
    command = shlex.split(told.removeprefix("mine/start: fedtheory "))
    assert command[1:] == [str(tmp_path / "out" / "counterexamples" / "mine_start.json"), "--own", own]
    status, out, _ = run(capsys, *command)
    assert status == 0 and "contradict the claim" in out


def test_the_commands_that_why_prints_replay_a_counterexample_of_ones_own(capsys, own, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, out, _ = run(capsys, "why", "mine/start", "--own", own)
    (line,) = [line for line in out.splitlines() if "to replay it exactly: " in line]
    check, replay = line.split("to replay it exactly: ")[1].split(", then ")
    run(capsys, *shlex.split(check)[1:])
    status, out, _ = run(capsys, *shlex.split(replay)[1:])
    assert status == 0 and "contradict the claim" in out


def test_why_needs_a_result(capsys, carried):
    carried(entries={})
    status, out, err = run(capsys, "why", REFUTED)
    assert (status, out) == (2, "") and f"fedtheory show {REFUTED} tests it" in err


def test_why_can_be_told_of_every_claim():
    for claim in claims.all():
        evidence = Evidence.from_json(claim, shipped().entries[claim.id])
        lines = [str(line) for line in why.lines(evidence, shipped().verdicts, "")]
        assert "that is not known" not in "".join(lines)
        assert (evidence.verdict in (Verdict.REFUTED, Verdict.ILL_POSED)) == ("the step that fails" in lines)


# Differences


x, y, z = sympy.symbols("x y z", positive=True)


def marked(a, b) -> list[str]:
    return [statement.shown(statement.expression(e)).plain for e in statement.expressions(a, b)]


@pytest.mark.parametrize(
    ("a", "b", "first", "second"),
    [
        (x + y, x + y, "x + y", "x + y"),
        (1 - x, 1 - x * y, "1 - x", "1 - x*{y}"),
        (sympy.Min(4, x) / y, sympy.Max(4, x) / y, "{Min(4, x)}/y", "{Max(4, x)}/y"),
        (x**y + z, x ** (2 * y) + z, "x^y + z", "x^(y*{2}) + z"),
        (x / (1 + y), x / (1 + z), "x/({y} + 1)", "x/({z} + 1)"),
        (x, y, "{x}", "{y}"),
        (sympy.Max(x, y), sympy.Max(x, z), "Max(x, {y})", "Max(x, {z})"),
    ],
)
def test_the_parts_that_differ_are_marked(a, b, first, second):
    assert marked(a, b) == [first, second]


def test_words_are_compared_where_lines_are_alike():
    claim = claims.get("feddcd/theorem-5.2/eq-8")
    first, second = statement.marked(claim, claims.get(f"{claim.id}/repaired"))
    assert "w^(-1) = {0};" in statement.shown(first[1].lines[0]).plain
    assert "w^(-1) = {grad f_i^*(y^(0))};" in statement.shown(second[1].lines[0]).plain
    other = replace(claim, setting=replace(claim.setting, text="something else"))
    assert statement.shown(statement.marked(claim, other)[1][1].lines[0]).plain == "{something else}"


def test_marks_are_coloured_on_a_terminal_only(monkeypatch, capsys):
    import io

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    line = statement.shown(f"a {statement.OPEN}b{statement.CLOSE}")
    screens = []
    for _ in range(2):
        screens.append(Screen())
        consoles.say(consoles.console(screens[-1]), line)
        monkeypatch.setenv("NO_COLOR", "1")
    plain = io.StringIO()
    consoles.say(consoles.console(plain), line)
    assert "\x1b[1;4m{b}" in screens[0].getvalue() and plain.getvalue() == "a {b}\n"
    assert "\x1b[38" not in screens[1].getvalue() and "{b}" in screens[1].getvalue()
