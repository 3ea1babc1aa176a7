"""The pages of the site: the table of all methods, notes and docstrings with their formulas."""

import sys

import pytest
from places import ROOT

from fedtheory import algorithms

pytest.importorskip("mkdocs")
pytest.importorskip("griffe")
sys.path.insert(0, str(ROOT / "docs"))


def test_every_method_has_its_letters():
    import hooks

    text = "\n".join(hooks.methods())
    for name in algorithms.names():
        (row,) = (line for line in text.splitlines() if line.startswith(f"| **`{name}`**"))
        method = algorithms.get(name)
        assert row.count(" | ") == 3
        assert all(f"`{letter}`" in row for letter in (*method.Params._fields, *method.State._fields))


def test_scripts_of_a_note_are_set_and_its_markup_stays():
    import hooks

    line = "- **eq-13.** g_i^k = alpha_i grad f_i(w_i^k), see [this](x_y.md) and `a_b`"
    found = hooks.noted(line)
    assert found.startswith("- **eq-13.** g<sub>i</sub><sup>k</sup> = α<sub>i</sub> ∇f<sub>i</sub>(w")
    assert "[this](x_y.md) and `a_b`" in found
    assert hooks.noted("| a_i | b |\n| --- | --- |") == "| a<sub>i</sub> | b |\n| --- | --- |"


def test_docstrings_have_no_markup_by_accident():
    import docstrings

    assert docstrings.shown("x* and y*, ``a*b``, g_i and h_i") == r"x\* and y\*, ``a*b``, g\_i and h\_i"
    example = "Args:\n    fixed_point: x* is one.\n\nExamples:\n    >>> a_b**2\n    x_y"
    assert docstrings.shown(example) == example.replace("x* is", r"x\* is")
    assert "<math" in docstrings.shown(r"$\frac{a}{2}$") and r"\frac" not in docstrings.shown(r"$\frac{a}{2}$")
