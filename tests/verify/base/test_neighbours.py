"""Files of one's own that import files beside them: what they mean by a name, what a digest is of, what is exact."""

import sys

import pytest

from fedtheory import claims
from verify import Verdict
from verify.base import neighbours
from verify.base.own import load
from verify.methods import METHODS, multipliers, search
from verify.methods.base import Inquiry

FILE = """\
import numpy as np
import fedtheory as ft
{imports}
mu, L, gamma = ft.letters("mu L gamma")
def step(problem, params, state, draw):
    return {{"x": state.x - params.gamma * {slope}}}
gd = ft.method("descent", step, ["gamma"], {{"x": "point"}})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
said = ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (ft.Claim("mine/step", setting=setting, statement=said, requires=(gamma * (mu + L) <= 2,)),)
"""
SLOPE = "def slope(problem, x):\n    return {}problem.f.gradient(x[..., None, :])[..., 0, :]\n"


@pytest.fixture(autouse=True)
def _nothing_is_left(monkeypatch):
    monkeypatch.setattr(claims, "_own", {})
    yield
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def found(method, path):
    (claim,) = load(path)
    return method.METHOD.run(method.METHOD, Inquiry(claim, 0, 12, methods=METHODS))


def is_proved(path):
    return found(multipliers, path).verdict is Verdict.PROVED


def is_refuted(path):
    return found(search, path).verdict is Verdict.REFUTED


def written(folder, imports="import helper", slope="helper.slope(problem, state.x)", **beside):
    for name, text in {"helper": SLOPE.format(""), **beside}.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "mine.py").write_text(FILE.format(imports=imports, slope=slope))
    return folder / "mine.py"


@pytest.mark.parametrize(
    ("imports", "slope"),
    [
        ("import helper", "helper.slope(problem, state.x)"),
        ("from helper import slope as g", "g(problem, state.x)"),
        ("from . import helper", "helper.slope(problem, state.x)"),
        ("from helper import *", "slope(problem, state.x)"),
        ("import parts.inner, numpy.linalg", "parts.inner.slope(problem, state.x)"),
        ("import parts.inner as p", "p.slope(problem, state.x)"),
        ("from parts import inner", "inner.slope(problem, state.x)"),
    ],
)
def test_what_is_imported_from_beside_a_file_is_read_as_its_own_code(tmp_path, imports, slope):
    inner = "from helper import slope\n"
    assert is_proved(written(tmp_path, imports, slope, parts____init__="", parts__inner=inner))


def test_no_file_takes_the_place_of_a_module_that_is_not_the_users(tmp_path):
    before = set(sys.modules), list(sys.path)
    bad = "raise RuntimeError('this is not meant')\n"
    names = ("numpy", "verify", "fedtheory", "sympy", "statistics", "scipy", "rich")
    helper = "import claims, statistics, verify\n" + SLOPE.format("claims.ONE * ")
    path = written(tmp_path, helper=helper, claims="ONE = 1\n", **dict.fromkeys(names, bad))
    assert is_proved(path)
    assert sys.path == before[1] and "helper" not in sys.modules and "claims" not in sys.modules
    path.write_text("from statistics import slope\n")
    with pytest.raises(ValueError, match=r"line 1: ImportError: .*; statistics\.py beside it is not imported: "):
        load(path)


def test_files_with_neighbours_of_the_same_name_do_not_mix(tmp_path):
    one, other = written(tmp_path / "one"), written(tmp_path / "other", helper=SLOPE.format("2 * "))
    (first,) = load(one)
    assert is_refuted(other)
    assert search.METHOD.run(search.METHOD, Inquiry(first, 0, 12, methods=METHODS)).verdict is Verdict.SUPPORTED


def test_a_changed_neighbour_is_loaded_again_and_has_another_digest(tmp_path):
    path = written(tmp_path, helper="from other import slope\n", other=SLOPE.format("1 * "))
    load(path)
    before = neighbours.digest(path)
    assert list(neighbours.files(path)) == ["helper.py", "mine.py", "other.py"]
    # Of the same size, and within the resolution of times.
    (tmp_path / "other.py").write_text(SLOPE.format("2 * "))
    (tmp_path / "unrelated.py").write_text("")
    assert neighbours.digest(path) != before
    assert is_refuted(path)


def test_what_is_imported_when_a_function_runs_is_found(tmp_path):
    slope = SLOPE.format("").replace("    return", "    from other import TIMES\n    return TIMES * ")
    path = written(tmp_path, helper=slope, other="TIMES = 2\n")
    assert "other.py" in neighbours.files(path)
    assert is_refuted(path)


def test_an_error_beside_a_file_is_told_with_its_place(tmp_path):
    for text, said in (
        ("\nx = y\n", "helper.py, line 2: NameError"),
        ("def", "helper.py, line 1: "),
        ("", "mine.py, line 3: ImportError: cannot import name 'slope' from 'helper'"),
    ):
        path = written(tmp_path, "from helper import slope", helper=text)
        with pytest.raises(ValueError, match=said) as told:
            load(path)
        assert "own_" not in str(told.value)


def test_floats_of_a_neighbour_are_what_they_are_written_as(tmp_path):
    helper = "PART = 0.1\n" + SLOPE.format("PART * 10.0 * ")
    assert is_proved(written(tmp_path, slope="0.1 * (helper.slope(problem, state.x) / helper.PART)", helper=helper))


def test_what_functions_of_a_neighbour_set_is_not_taken_for_a_constant(tmp_path):
    helper = "TIMES = 1\ndef more():\n    global TIMES\n    TIMES += 1\n" + SLOPE.format("")
    slope = "helper.TIMES * helper.slope(problem, state.x)"
    outcome = found(multipliers, written(tmp_path, slope=slope, helper=helper))
    assert outcome.verdict is None and "TIMES is set more than once" in outcome.note


def test_a_name_of_a_neighbour_that_code_makes_up_is_there_in_fractions_too(tmp_path):
    helper = "TIMES = 2\n" + SLOPE.format("")
    slope = "getattr(helper, 'TI' + 'MES', 1) / 2 * helper.slope(problem, state.x)"
    assert found(search, written(tmp_path, slope=slope, helper=helper)).verdict is Verdict.SUPPORTED


def test_a_float_that_is_imported_by_itself_is_told(tmp_path):
    helper = "TENTH = 0.1\n" + SLOPE.format("")
    path = written(tmp_path, "from helper import TENTH, slope", "10 * TENTH * slope(problem, state.x)", helper=helper)
    assert "TENTH is a float of another file: import that file" in found(multipliers, path).note
