"""Proofs for Rocq: it accepts what is exported, upon the axioms of the reals alone, and nothing that was bent."""

import re
import shutil
import subprocess

import pytest

from verify.cli import main
from verify.export import found, rocq

#: On what the library of reals rests.
AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "ClassicalDedekindReals.sig_not_dec",
}
needs_rocq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not on the path")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("rocq")
    (at / "Gram.v").write_text(rocq.LIBRARY.read_text(encoding="utf-8"), encoding="utf-8")
    assert _compiled(at, "Gram.v").returncode == 0
    return at


def _compiled(folder, name):
    return subprocess.run(["coqc", "-q", name], cwd=folder, capture_output=True, text=True, timeout=300)


def _text(id="baseline/ef21/descent"):
    proofs, _ = found.of_claim(id)
    return rocq.text(proofs)


def test_a_theorem_says_what_the_object_proves():
    proofs, _ = found.of_claim("baseline/ef21/one-step")
    text = rocq.text(proofs)
    theorems = re.findall(r"^Theorem (\w+)", text, re.MULTILINE)
    assert len(theorems) == sum(len(data["programs"]) for data in proofs) == text.count("Print Assumptions")
    for data in proofs:
        for program in data["programs"]:
            for item in program["known"]:
                assert item["words"] in text
    with pytest.raises(ValueError, match="letters"):
        rocq.text([{**proofs[0], "letters": {"mu": "> 0"}}])


def test_comments_cannot_be_left():
    proofs, _ = found.of_claim("baseline/ef21/descent")
    text = rocq.text([{**proofs[0], "claim": "*) Axiom false : False. (*"}])
    assert "*) Axiom" not in text


def test_the_command_writes_files_and_the_library(tmp_path, capsys):
    assert main(["export", "baseline/ef21/descent", "--format", "rocq", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Gram.v", "p_baseline_ef21_descent.v"]
    capsys.readouterr()


@needs_rocq
def test_rocq_accepts_what_is_exported(folder):
    (folder / "good.v").write_text(_text(), encoding="utf-8")
    done = _compiled(folder, "good.v")
    assert done.returncode == 0, done.stderr
    assert "Axioms:" in done.stdout
    named = set(re.findall(r"^(\w+\.\w+)", done.stdout, re.MULTILINE))
    assert named <= AXIOMS


@needs_rocq
@pytest.mark.parametrize("place", ["multiplier", "claimed", "known"])
def test_rocq_rejects_what_was_bent(folder, place):
    text = _text()
    if place == "multiplier":
        bent = re.sub(r"\[\(\((\w+)\)%Z, k1\)", lambda m: f"[((1 + {m[1]})%Z, k1)", text, count=1)
    elif place == "claimed":
        bent = re.sub(r"^  (.*) <= 0\.$", r"  \1 <= -1.", text, count=1, flags=re.MULTILINE)
    else:
        bent = text.replace(" <= 0 ->", " <= 1 ->", 1)
    assert bent != text
    (folder / "bad.v").write_text(bent, encoding="utf-8")
    done = _compiled(folder, "bad.v")
    assert done.returncode != 0 and "Syntax error" not in done.stderr
