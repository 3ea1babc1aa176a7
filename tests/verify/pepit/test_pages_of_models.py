"""Upper bounds of models as pages: what is printed is what was proved, it compiles, and a changed page is refused."""

from __future__ import annotations

import re
import shutil

import pytest
import tex

from verify.cli import main
from verify.export import latex

PEPit = pytest.importorskip("PEPit")

EXAMPLE = "examples/pepit/gradient_descent.py"
#: Two functions, of which one is composed with an equality, and a fixed point of both.
COMPOSITE = """
from PEPit import PEP
from PEPit.functions import ConvexFunction, SmoothStronglyConvexFunction
from PEPit.primitive_steps import proximal_step

def wc_proximal_gradient(L, mu, gamma, n=1):
    problem = PEP()
    f = problem.declare_function(SmoothStronglyConvexFunction, L=L, mu=mu)
    h = problem.declare_function(ConvexFunction)
    minimiser = (f + h).stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 == 1)
    for _ in range(n):
        x, _, _ = proximal_step(x - gamma * f.gradient(x), h, gamma)
    problem.set_performance_metric((x - minimiser) ** 2)
    return problem.solve(verbose=0), (1 - gamma * mu) ** (2 * n)
"""


def page(tmp_path, *arguments):
    """The page that the command writes."""
    out = tmp_path / "pages"
    assert main(["certify", *map(str, arguments), "--proofs", str(out), "--format", "latex"]) == 0
    (path,) = out.iterdir()
    return path.read_text(encoding="utf-8")


@pytest.fixture
def composite(tmp_path):
    path = tmp_path / "proximal_gradient.py"
    path.write_text(COMPOSITE)
    return path


def test_a_page_has_the_theorem_what_is_known_and_the_sum(tmp_path):
    text = page(tmp_path, EXAMPLE, "--at", "n=1")
    assert r"Then \(\tau \le \frac{1}{6}\). It is attained." in text
    assert r"\(f\) is a smooth convex function." in text and r"\(x_{2} = x_{1} - g_{1}\)" in text
    assert r"Initial condition: $K_{2} = -1 + \|x^{\star} - x_{1}\|^{2}$" in text
    assert r"smoothness convexity of \(f\), between \(x_{1}\) and \(x_{2}\): $K_{5} = " in text
    assert re.search(r"\\textbf\{Adding these up\}, \$\\Delta = K_\{1\} \+ \\frac\{1\}\{6\} K_\{2\} \+ ", text)
    tex.check(text, tmp_path)


def test_a_page_with_letters(tmp_path):
    letters = ("--letters", "L", "gamma", "--where", "gamma*L <= 1", "--at", "n=1")
    text = page(tmp_path, EXAMPLE, *letters)
    assert r"Then \(\tau \le \frac{L}{2 (2 L \gamma + 1)}\). It is attained, for instance at" in text
    assert r"\(L, \gamma>0\), \(1 - L \gamma\ge 0\)" in text and r"\(x_{2} = x_{1} - \gamma \, g_{1}\)" in text
    assert "shifted so that" in text
    assert r"\frac{L}{2 (2 L \gamma + 1)} K_{4}" in text
    tex.check(text, tmp_path)


def test_a_page_of_two_functions(tmp_path, composite):
    text = page(tmp_path, composite, "--at", "L=1", "mu=1/10", "gamma=1")
    assert r"\(F = f + h\); \(F_{0}\) is its value at \(x^{\star}\)." in text and "a sum of others" not in text
    assert r"\(h\) is a convex function." in text and r"\tau \le \frac{81}{100}" in text
    tex.check(text, tmp_path)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="TeX is not installed")
@pytest.mark.parametrize("letters", [(), ("--letters", "L", "mu", "gamma", "--where", "gamma*L <= 1", "mu < L")])
def test_no_line_of_a_page_is_too_wide(tmp_path, composite, letters):
    at = () if letters else ("--at", "L=1", "mu=1/10", "gamma=6/7", "n=2")
    if letters:
        letters = ("--letters", "L", "mu", "gamma", "--where", "gamma*L <= 1", "--where", "mu < L")
    tex.check(page(tmp_path, composite, *letters, *at), tmp_path)
    for name in ("part", "paper"):
        assert "Overfull" not in (tmp_path / f"{name}.log").read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"\tau - \frac{1}{6}$", r"\tau - \frac{1}{7}$"),
        (r"K_{1} + \frac{1}{6} K_{2}", r"K_{1} + \frac{1}{7} K_{2}"),
        (r"K_{1} = \tau - f_{2} + f_{0}", r"K_{1} = \tau - f_{1} + f_{0}"),
        (r"\|x^{\star} - x_{1}\|^{2}", r"\|x^{\star} + x_{1}\|^{2}"),
    ],
    ids=["the bound", "a multiplier", "a value", "a sign"],
)
def test_a_changed_page_is_refused(tmp_path, monkeypatch, old, new):
    written = latex.document

    def changed(*arguments):
        text = written(*arguments)
        assert old in text
        return text.replace(old, new, 1)

    monkeypatch.setattr(latex, "document", changed)
    arguments = ["certify", EXAMPLE, "--at", "n=1", "--proofs", str(tmp_path / "pages"), "--format", "latex"]
    assert main(arguments) == 2
    assert not [*(tmp_path / "pages").iterdir()]
