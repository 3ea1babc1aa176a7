"""Proofs of theorems of one's own: of those that are named, and of bounds by what they follow from."""

import json

import pytest

import fedtheory as ft
from verify import checker
from verify.cli import main
from verify.export import found

FILE = """
import fedtheory as ft
L, gamma = ft.letters("L gamma")

def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}

gd = ft.method("export-gd", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothConvex(L))
D_0, F = ft.Quantity("D_0", ft.distance), ft.Quantity("F", ft.gap)
CLAIMS = tuple(
    ft.Claim(f"export-gd/{name}", setting=setting, requires=(gamma * L <= 1,), statement=ft.bound(
        gd, ft.E(ft.at_average(F)) <= D_0 / (c * gamma * ft.T), since=1))
    for name, c in (("average", 2), ("too-good", 4))
)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_bound_is_written_by_the_round_that_it_follows_from(file, tmp_path, capsys):
    out = tmp_path / "proofs"
    assert main(["export", "export-gd/average", "--own", str(file), "--format", "latex", "--out", str(out)]) == 0
    (written,) = out.iterdir()
    text = written.read_text(encoding="utf-8")
    assert r"\mathbb{E}\left[F\left(\frac{1}{T} \sum_{k=0}^{T - 1} x_k\right)\right] \le \frac{D_0}{2 T \gamma}" in text
    assert "From this export-gd/average follows by induction on the rounds, by Jensen's inequality" in text
    assert r"each \(f_{i}\) is convex and \(L\)-smooth, between" in text and "without g" not in text
    capsys.readouterr()


@pytest.mark.slow
def test_of_what_is_not_proved_nothing_is_written(file, tmp_path, capsys):
    out = tmp_path / "proofs"
    assert main(["export", "--own", str(file), "--out", str(out)]) == 1
    assert {path.name for path in out.iterdir()} == {"checker.py", "export-gd_average_1.json"}
    assert "export-gd/too-good: no proof for all letters is found" in capsys.readouterr().out
    (data,) = [json.loads(path.read_text(encoding="utf-8")) for path in out.glob("*.json")]
    assert "which follows from it by induction on the rounds" in data["says"][0]
    checker.check(json.dumps(data))


def test_a_name_that_the_file_does_not_have_is_refused(file, tmp_path, capsys):
    assert main(["export", "export-gd/other", "--own", str(file), "--out", str(tmp_path / "proofs")]) == 2
    assert "the file has no claim 'export-gd/other', but export-gd/average" in capsys.readouterr().err
    assert main(["export", "--all", "--own", str(file), "--out", str(tmp_path / "proofs")]) == 2
    capsys.readouterr()


def test_a_bound_by_a_rate_is_written_by_its_step():
    mu, L, gamma = ft.letters("mu L gamma")

    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}

    gd = ft.method("export-rate", step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
    D, D_0 = ft.Quantity("D_T", ft.distance, after=True), ft.Quantity("D_0", ft.distance)
    for factor, holds in ((1 - gamma * mu, True), (1 - 3 * gamma * mu, False)):
        statement = ft.bound(gd, ft.E(D) <= factor**ft.T * D_0)
        claim = ft.Claim("export-rate/bound", setting=setting, statement=statement, requires=(gamma * L <= 1,))
        objects, why = found.of_own(claim)
        assert bool(objects) == holds and bool(why) != holds
        if holds:
            assert "which follows from it by induction on the rounds" in objects[0]["says"][0]
