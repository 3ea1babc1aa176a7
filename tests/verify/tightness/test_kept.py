"""Worst cases after some rounds, kept in a file: what was found is shown again, and what is planted there is not."""

from __future__ import annotations

import copy
import json
from fractions import Fraction as Fr

import pytest
import sympy
from places import EXAMPLES

import fedtheory as ft
from verify.base.own import load
from verify.base.verdict import Verdict
from verify.cli import main, tightening
from verify.pep.prover import DoesNotHold
from verify.tightness import grids, kept, rounds, sweep

GALLERY = EXAMPLES / "gallery"


@pytest.fixture(scope="module")
def nesterov():
    return load(GALLERY / "nesterov_rate.py")


@pytest.fixture(scope="module")
def content(nesterov):
    """The file of Nesterov's bound after one and two rounds, as an object."""
    found = []
    sweep.measure(nesterov[0], {"L": Fr(1)}, steps=2, keep=found.append)
    return json.loads(kept.text(nesterov[0], found))


def again(content):
    claim, points = kept.from_json(content)
    return [one.again(claim) for one in points]


def test_what_is_kept_is_shown_again_without_a_solver(content, nesterov, monkeypatch):
    monkeypatch.setattr(rounds.programs, "solve", None)
    assert [(p.lower, p.upper, p.verdict) for p in again(content)] == [
        (Fr(1, 6), Fr(1, 6), Verdict.CERTIFIED),
        (Fr(1, 10), Fr(1, 10), Verdict.CERTIFIED),
    ]
    assert json.loads(kept.text(*kept.from_json(content))) == content
    # A sweep goes on from it.
    _, known = kept.from_json(content)
    points = sweep.measure(nesterov[0], {"L": Fr(1)}, steps=2, known=known)
    assert [p.upper for p in points] == [Fr(1, 6), Fr(1, 10)]


def changed(content, *path, value):
    """The file with another value in its last point."""
    found = copy.deepcopy(content)
    at = found["points"][-1]
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value(at[path[-1]]) if callable(value) else value
    return found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("steps", "T", "bound"), "99/1000"),
        (("steps", "T", "multipliers", "before"), "99/1000"),
        (("steps", "T", "multipliers"), {"before": "1/10"}),
        (("steps", "T", "multipliers"), lambda all: {name: f"-{m}" for name, m in all.items()}),
        (("steps", "T", "squares"), ["1"]),
        (("steps",), lambda all: {**all, "another": all["T"]}),
        (("steps",), lambda all: {name: step for name, step in all.items() if name != "T"}),
        (("rounds",), 3),
        (("rounds",), 1),
        (("recipe", "L"), {"ratio": "2"}),
        (("recipe",), {}),
        (("run", "rows"), lambda rows: [{**rows[0], "at": ["7"]}, *rows[1:]]),
        (("run", "rows"), lambda rows: rows[1:]),
        (("run", "values"), {}),
        (("run", "values"), lambda all: dict.fromkeys(all, "1000")),
    ],
)
def test_what_is_planted_does_not_hold(content, path, value):
    with pytest.raises(DoesNotHold):
        again(changed(content, *path, value=value))


def test_what_lacks_a_proof_is_open(content):
    bare = changed(changed(content, "steps", value={}), "run", value=None)
    point = again(bare)[-1]
    assert (point.lower, point.upper, point.verdict) == (None, None, Verdict.OPEN)
    line = tightening.describe_point(point)
    assert line.startswith("T=2, L=1: worst case not bounded of D_0 after T rounds, stated 0.2222")
    half = again(changed(content, "run", value=None))[-1]
    assert "worst case at most 0.1 of D_0 after T rounds" in tightening.describe_point(half)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rounds",), 0),
        (("rounds",), 1.0),
        (("run", "dimension"), 2),
        (("steps", "T", "bound"), "1/0"),
        (("recipe", "L"), "L"),
    ],
)
def test_what_is_no_such_file_is_refused(content, path, value):
    with pytest.raises(ValueError, match=r"points|rounds|run|dimension|0|recipe"):
        again(changed(content, *path, value=value))


def test_the_verdict_is_of_the_claim_that_is_named(content, nesterov):
    # Half of what is true: the same worst cases, against other statements.
    other = {**content, "claim": nesterov[1].id}
    stated = [point.printed for point in again(other)]
    assert stated == [point.printed / 2 for point in again(content)]


L, gamma = ft.letters("L gamma")
D_0, F_T = ft.Quantity("D_0", ft.distance), ft.Quantity("F_T", ft.gap, after=True)


def descend(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


def longer(problem, params, state, draw):
    return {"x": state.x - 3 * params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


def twice(problem, params, state):
    return 2 * ft.gap(problem, params, state)


def bound(right, step=descend, left=F_T, functions=None, product=sympy.S.One):
    method = ft.method("gd", step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=functions or ft.SmoothConvex(L), clients=(1,))
    requires = (sympy.Eq(gamma * L, product),)
    return ft.Claim("own/bound", setting=setting, statement=ft.bound(method, ft.E(left) <= right), requires=requires)


@pytest.mark.parametrize(
    "false",
    [
        bound(L * D_0 / (4 * ft.T + 2) * (1 - sympy.Rational(1, 10**9))),
        bound(L * D_0 / (4 * ft.T + 2), step=longer),
        bound(L * D_0 / (4 * ft.T + 2), left=ft.Quantity("F_T", twice, after=True)),
        bound(L * D_0 / (4 * ft.T + 2), functions=ft.Smooth(L)),
        bound(L * D_0 / (4 * ft.T + 2), product=sympy.S.Half),
        bound(-L * D_0 / (4 * ft.T + 2)),
    ],
)
def test_a_proof_of_what_is_true_certifies_nothing_that_is_false(false):
    true = bound(L * D_0 / (4 * ft.T + 2))
    (found,) = rounds.after_rounds(true, grids.choices(true, {})[0], 1)
    assert found.verdict is Verdict.CERTIFIED
    for choice in grids.choices(false, {})[:2]:
        try:
            (point,) = rounds.after_rounds(false, choice, 1, found.proof)
        except DoesNotHold:
            continue
        assert point.verdict is not Verdict.CERTIFIED


@pytest.mark.slow
def test_the_command_keeps_what_it_finds(tmp_path, capsys, monkeypatch):
    own, out, keep = GALLERY / "gradient_descent_rate.py", tmp_path / "a.png", tmp_path / "a.json"
    asked = ["tight", "gradient-descent-rate/bound", "--own", own, "--at", "L=1", "--out", out, "--keep", keep]
    asked = [*map(str, asked)]
    assert main(asked) == 2 and "--keep is for what --steps finds" in capsys.readouterr().err
    assert main([*asked, "--steps", "1"]) == 0
    first = capsys.readouterr().out
    with monkeypatch.context() as patched:
        patched.setattr(rounds.programs, "solve", None)
        assert main([*asked, "--steps", "1"]) == 0 and capsys.readouterr().out == first
        assert main(["replay", str(keep), "--own", str(own)]) == 0
    said = capsys.readouterr().out
    assert "T=1, L=1, gamma=1: worst case exactly 1/6 of D_0 after T rounds, stated 0.166667: certified" in said
    data = json.loads(keep.read_text())
    data["points"][0]["steps"]["T"]["bound"] = "1/7"
    keep.write_text(json.dumps(data))
    assert main(["replay", str(keep), "--own", str(own)]) == 1 and "does NOT hold" in capsys.readouterr().out
    assert main([*asked, "--steps", "1"]) == 2 and "after 1 rounds" in capsys.readouterr().err
    keep.write_text("{}")
    assert main([*asked, "--steps", "1"]) == 2 and "holds something else" in capsys.readouterr().err
    assert keep.read_text() == "{}"
