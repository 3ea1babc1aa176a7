"""Functions of a claim that run and are not read change nothing that is: false theorems of files of one's own."""

from pathlib import Path

import pytest

from verify import Verdict, check
from verify.base.own import load

FILE = """\
import dataclasses
import sys
import fedtheory as ft
mu, L, gamma = ft.letters("mu L gamma")
@dataclasses.dataclass(frozen=True)
class C:
    k: int
c = C(1)
K = 1
def make(one):
    def inner():
        return one
    return inner
def plain(one=1):
    return one
cell = make(1)
def step(problem, params, state, draw):
    g = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {{"x": state.x - {k} * params.gamma * g}}
def init(problem, params, x=None):
    if problem.n > 300:
        {do}
    return {{"x": 0 * problem.x_star if x is None else x}}
gd = ft.method("gd", step, ["gamma"], {{"x": "point"}}, init=init)
setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
statement = ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (ft.Claim("mine/held", setting=setting, statement=statement, requires=(gamma * (mu + L) <= 2,)),)
"""
CHANGES = {
    "globals": ("K", "globals()['K'] = 3"),
    "a module": ("K", "sys.modules[__name__].K = 3"),
    "a frozen dataclass": ("c.k", "object.__setattr__(c, 'k', 3)"),
    "a default": ("plain()", "plain.__defaults__ = (3,)"),
    "a closure cell": ("cell()", "cell.__closure__[0].cell_contents = 3"),
    "setattr": ("K", "setattr(sys, 'K', 3)"),
}


def written(path: Path, k: str, do: str) -> Path:
    file = path / "mine.py"
    file.write_text(FILE.format(k=k, do=do))
    return file


@pytest.mark.parametrize(("k", "do"), CHANGES.values(), ids=CHANGES)
def test_what_runs_may_not_change_what_is_read(tmp_path, k, do):
    (claim,) = load(written(tmp_path, k, do))
    found = check(claim)
    assert found.verdict is Verdict.SUPPORTED
    assert any("may change what is read" in o.note or "is not read" in o.note for o in found.outcomes)


def test_a_start_of_ones_own_keeps_a_proof(tmp_path):
    (claim,) = load(written(tmp_path, "K", "pass"))
    assert check(claim).verdict is Verdict.PROVED


@pytest.mark.parametrize("change", ["np.square = lambda x: x", "fractions.Fraction.__add__ = lambda one, other: one"])
def test_a_file_that_replaces_a_function_is_refused(tmp_path, monkeypatch, change):
    import fractions

    import numpy as np

    # What the file sets is set back.
    monkeypatch.setattr(np, "square", np.square)
    monkeypatch.setattr(fractions.Fraction, "__add__", fractions.Fraction.__add__)
    file = tmp_path / "mine.py"
    file.write_text(f"import fractions\nimport numpy as np\n{change}\n")
    with pytest.raises(ValueError, match="was replaced"):
        load(file)
