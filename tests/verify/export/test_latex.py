"""Proofs for people: what is printed is what is proved, and nothing that was bent is taken for it."""

import json
import random
import re
import shutil
import subprocess

import pytest
import tex
from places import EXAMPLES

from fedtheory import claims
from verify import checker
from verify.cli import main
from verify.export import found, latex
from verify.export.latex_layout import bare, broken, listed, width
from verify.export.latex_words import mathematical
from verify.export.objects import sealed
from verify.export.weights import Certificates
from verify.multipliers.ratios import Ratio
from verify.results import PROOFS

#: Squares of which the shortest scale would divide by what may be 0.
MAY_BE_ZERO = ("feddcd/eq-31/repaired", "feddcd/eq-36/repaired", "baseline/scaffold-sampled/one-step")
IDS = ("feddcd/lemma-E.1/inexact/repaired", "baseline/scaffnew/one-step", "baseline/saga/one-step")


@pytest.fixture(scope="module", params=IDS)
def proof(request):
    objects, _ = found.of_claim(request.param)
    return latex.checked(claims.get(request.param), objects), objects


def _holds(written, objects):
    try:
        for data in latex.read(written, objects):
            checker.check(json.dumps(sealed(data)))
    except ValueError:
        return False
    return True


def test_what_is_printed_is_read_again_and_proves(proof):
    written, objects = proof
    assert _holds(written, objects)
    assert r"\textbf{Adding these up}" in written and written.startswith("% A document by itself")


def test_a_formula_that_was_bent_proves_nothing(proof):
    written, objects = proof
    formulas = [m for m in re.finditer(r"\$([^$=]+?) = ([^$]+)\$", written)]
    rng = random.Random(0)
    for _ in range(60):
        one = rng.choice(formulas)
        at = rng.choice([m.start() for m in re.finditer(r"[0-9a-z+]|- ", one[2])])
        bent = one[2][:at] + rng.choice(["7", "+ 2 ", "- 3 ", "x"]) + one[2][at + 1 :]
        if bent != one[2]:
            assert not _holds(written[: one.start(2)] + bent + written[one.end(2) :], objects), (one[0], bent)


def test_formulas_that_are_missing_or_too_many_are_seen(proof):
    written, objects = proof
    formulas = [m for m in re.finditer(r"\$([^$=]+?) = ([^$]+)\$", written)]
    for one in (formulas[0], formulas[1], formulas[-1]):
        assert not _holds(written[: one.start()] + written[one.end() :], objects)
        assert not _holds(written[: one.start()] + one[0] + written[one.start() :], objects)


@pytest.mark.parametrize("id", ["locodl/eq-15", "fedopt/separable-data"])
def test_sums_that_cancel_are_printed_as_what_is_left(id):
    """An object lists terms of several sums; they are collected before anything is printed of them."""
    objects, _ = found.of_claim(id)
    assert _holds(latex.checked(claims.get(id), objects), objects)


def test_bounds_and_known_inequalities_are_those_of_the_object():
    """What is printed may not prove another statement, though it be a true one."""
    objects, _ = found.of_claim("baseline/scaffnew/one-step")
    written = latex.checked(claims.get("baseline/scaffnew/one-step"), objects)
    for old, new in (
        (r"p^{2} + r - 1$", r"p^{2} + r - 2$"),
        (r"K_{1} = \frac{1}{L - \mu}", r"K_{1} = \frac{2}{L - \mu}"),
    ):
        assert old in written and not _holds(written.replace(old, new), objects)


def test_what_is_known_already_is_not_added_up():
    objects, _ = found.of_claim("feddcd/lemma-B.7")
    written = latex.checked(claims.get("feddcd/lemma-B.7"), objects)
    assert "$K_{1} = \\Delta$" in written and "Adding these up" not in written
    # It is that only where it is what is to be shown.
    objects, _ = found.of_claim("baseline/scaffnew/one-step")
    written = latex.checked(claims.get("baseline/scaffnew/one-step"), objects)
    known = re.search(r"\$K_\{1\} = [^$]+\$", written)
    assert not _holds(written.replace(known[0], "$K_{1} = \\Delta$"), objects)


@pytest.mark.parametrize("id", ["fedopt/svrg/eq-5", "fedopt/dane/property-c"])
def test_long_numbers_are_broken_and_read_again(id):
    objects, _ = found.of_claim(id)
    written = latex.checked(claims.get(id), objects)
    assert not re.search(r"\d{11}", written) and "\\allowbreak " in written
    at = written.index("\\allowbreak ")
    for bent in (r"\* ", " ", "/", "1"):
        assert not _holds(written[:at] + bent + written[at + len("\\allowbreak ") :], objects)


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{1}{n} (a + b) \|x_{1}\|^{2} - K_{1}",
        r"(1234567890123456789012345678901234567890/7) \|x\|^{2}",
        r"\frac{\eta^{2}}{2 n} (\theta_{1} - 1) (\theta_{2} - \mu)^{-2} (\sigma + \mu) (1 - \eta)^{3} K_{12}",
    ],
)
def test_where_a_line_may_end_is_layout(formula):
    assert bare(broken(formula)) == formula
    assert width(r"\frac{1}{n}") < width(r"\frac{1}{n + 1}") < width("1 + n + 1")


def test_a_long_list_may_end_a_line_after_a_comma():
    row = "(181/486, -19/972, 0)"
    assert listed(f"H = ({row}, {row}, {row})").count(r", \allowbreak ") == 8
    assert listed(r"(1, 2)") == "(1, 2)" and r"\allowbreak" not in listed(rf"x_{{{row}, {row}, {row}}}")


def test_what_is_no_identity_is_not_written(tmp_path, capsys):
    assert main(["export", "fedadmm/example-5.1", "--format", "latex", "--out", str(tmp_path)]) == 1
    assert not list(tmp_path.glob("*.tex"))
    capsys.readouterr()


def test_numbers_stand_in_forms_as_they_are(tmp_path, capsys):
    # The variance of noise multiplies no vector.
    file = EXAMPLES / "gallery" / "sgd_nonconvex.py"
    main(["export", "--own", str(file), "--format", "latex", "--out", str(tmp_path)])
    (written,) = tmp_path.glob("*.tex")
    assert r"\frac{L \sigma^{2} \gamma^{2}}{2}" in written.read_text(encoding="utf-8")
    capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("id", MAY_BE_ZERO)
def test_squares_are_not_divided_by_what_may_be_zero(id, tmp_path):
    tex.check(latex.checked(claims.get(id), found.of_claim(id)[0]), tmp_path)


def test_a_square_is_divided_only_by_what_is_never_zero():
    letters = {"a": "> 0", "b": "> 0"}
    never = {"of": [["1", [1, 0]]], "by": {"constant": "1", "factors": [factor([["1", [1, 0]]])]}}
    some = {"weight": "1", "by": {"constant": "1", "factors": [factor([["1", [1, 0]], ["-1", [0, 1]]])]}}
    signs = Certificates({"letters": letters, "nonzero": [never], "programs": [{"known": [some], "squares": []}]})
    a, difference = signs.polynomial([["1", [1, 0]]]), signs.polynomial([["1", [1, 0]], ["-1", [0, 1]]])
    # That a - b is nonnegative is no reason why it is not 0.
    assert signs.shows(Ratio.of(difference, a)) and signs.shows(Ratio.of(a, difference))
    assert signs.divides(Ratio.of(difference, a)) and not signs.divides(Ratio.of(a, difference))


def factor(of):
    return {"of": of, "power": 1, "sign": 1, "chart": []}


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(PROOFS.glob("*.tex")), ids=lambda path: path.stem)
def test_stored_proofs_are_those_of_today(path, tmp_path):
    (id,) = re.findall(r"\\texttt\{([^}]*)\}", path.read_text(encoding="utf-8"))
    id = id.replace("\\slash ", "/").replace("\\", "")
    written = latex.checked(claims.get(id), found.of_claim(id)[0])
    assert path.read_text(encoding="utf-8") == written
    if shutil.which("pdflatex"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"-output-directory={tmp_path}", str(path)]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120).returncode == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|x - x*|^2 + c of eq. (4)", r"\(|x - x^{\star}|^{2} + c\) of eq. (4)"),
        ("sum_i <grad f_i(x), y>, a mean", r"\(\sum_{i} \langle \nabla  f_{i}(x), y\rangle \), a mean"),
        ("f*(y) <= 2*(a + b)", r"\(f^{\star}(y)  \le  2\, (a + b)\)"),
        ("mu-strongly convex, r_i-Lipschitz", r"\(\mu\)-strongly convex, \(r_{i}\)-Lipschitz"),
        ("a well-known step-size, eq. (4)-like", "a well-known step-size, eq. (4)-like"),
        ("eps = (1, 1/2), |Dw_i^{k+1}|^2", r"\(\varepsilon  = (1, 1/2)\), \(|\Delta w_{i}^{k+1}|^{2}\)"),
        ("s_i^2*|w|, |x - x*|, (sum of", r"\(s_{i}^{2}\, |w|\), \(|x - x^{\star}|\), (sum of"),
        ("f(x), y and D_i(x, z)", r"\(f(x)\), \(y\) and \(D_{i}(x, z)\)"),
        ("- x - y of -3 - what", r"- \(x - y\) of \(-3\) - what"),
        ("x_hat_i, x_other_i", r"\(\hat{x}_{i}\), \(x_{\mathrm{other}, i}\)"),
        ("where sum_{i in I} y_i = 0", r"where \(\sum_{i \in I} y_{i} = 0\)"),
        # The sum is no part of the exponent before it, and braces may stand within others.
        ("sum_i(s_i^2sum_t|w|)", r"\(\sum_{i}(s_{i}^{2}\sum_{t}|w|)\)"),
        ("w^{tau_{k+1}} of round k", r"\(w^{\tau_{k+1}}\) of round \(k\)"),
        ("the (sum of all z_i), grad Phi(x)", r"the (sum of all \(z_{i})\), \(\nabla  \Phi (x)\)"),
        ("in {1, 2} or {a}", r"in \{1, 2\} or \(\{a\}\)"),
        ("8/(sqrt(kappa)*sqrt(m))", r"\(8/(\sqrt{\kappa}\, \sqrt{m})\)"),
        ("sqrt of sqrt(L - mu) at sqrt(word)", r"\(\surd \) of \(\surd (L - \mu )\) at sqrt(word)"),
        ("left: -alpha_i*s_i*|v - v*|^2", r"left: \(-\alpha_{i}\, s_{i}\, |v - v^{\star}|^{2}\)"),
        ("1/3 + 3 * 3 = 28/3 and 0.5*3", r"\(1/3 + 3 \cdot 3 = 28/3\) and \(0.5\cdot 3\)"),
        ("all c, eps > 0, t<tau_{k+1}", r"all \(c\), \(\varepsilon  > 0\), \(t < \tau_{k+1}\)"),
        ("f_i^{*}(y_i)", r"\(f_{i}^{\star}(y_{i})\)"),
        ("|x - x*|_X^2 + s_i*|x|", r"\(|x - x^{\star}|_{X}^{2} + s_{i}\, |x|\)"),
        ("|<u, v>|^2", r"\(|\langle u, v\rangle |^{2}\)"),
        (
            "a ceiling, log_rho(ceil(X)) of grad_f_i(v)",
            r"a ceiling, \(\log_{\rho }(\mathrm{ceil} (X))\) of \(\nabla f_{i}(v)\)",
        ),
        ("1 - Min(1, 4*ceiling(N/m))^t", r"\(1 - \min (1, 4\, \mathrm{ceil} (N/m))^{t}\)"),
    ],
)
def test_formulas_among_words_are_set(text, expected):
    assert mathematical(text) == expected
