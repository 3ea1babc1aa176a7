"""Proofs for Rocq: it accepts what is exported, upon the axioms of the reals alone, and nothing that was bent."""

import re
import shutil
import subprocess

import pytest

from verify.cli import main
from verify.export import found, prove, rocq
from verify.export.factored import ONE, Factored, Table, multiple

needs_rocq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not on the path")

#: (1 - gamma mu)/(L + mu) (a - b)^2 + c^2/2 >= 0 as gamma <= 1/L and mu <= L, with an inequality, a value and a number.
ONE_LETTER, LESS = [["1", [0, 0, 0]]], [["1", [0, 0, 0]], ["-1", [1, 0, 1]]]
MORE = [["1", [1, 0, 0]], ["1", [0, 1, 0]]]
ABOVE = [["1", [0, 1, 0]], ["-1", [1, 0, 0]]]
BELOW = [["1", [0, 0, 0]], ["-1", [0, 1, 1]]]
CHART = [["gamma", "gamma <= 1/L", ONE_LETTER, BELOW], ["L", "mu <= L", ONE_LETTER, ABOVE]]
WITH_LETTERS = {
    "claim": "a weighted square",
    "says": ["said"],
    "at": {},
    "letters": {"mu": "> 0", "L": "> 0", "gamma": "> 0"},
    "domain": {"mu <= L": {"is": ABOVE, "sign": ">= 0"}, "gamma <= 1/L": {"is": BELOW, "sign": ">= 0"}},
    "point": {"mu": "1", "L": "2", "gamma": "1/2"},
    "nonzero": [],
    "programs": [
        {
            "claimed": "a weighted square",
            "target": {
                "state: a|state: a": {"num": [["-1", [0, 0, 0]], ["1", [1, 0, 1]]], "den": MORE},
                "state: a|state: b": {"num": [["2", [0, 0, 0]], ["-2", [1, 0, 1]]], "den": MORE},
                "state: b|state: b": {"num": [["-1", [0, 0, 0]], ["1", [1, 0, 1]]], "den": MORE},
                "f": {"num": [["3", [0, 0, 0]]], "den": [["1", [1, 0, 0]]]},
                "1|1": "-1/2",
            },
            "known": [
                {
                    "words": "f is at most 0",
                    "form": {"f": "1/2"},
                    "weight": {"num": [["6", [0, 0, 0]]], "den": [["1", [1, 0, 0]]]},
                }
            ],
            "squares": [
                {
                    "weight": {"num": LESS, "den": MORE},
                    "vector": {"state: a": "1", "state: b": "-1"},
                    "by": {"constant": "1", "factors": [{"of": LESS, "power": 1, "sign": 1, "chart": CHART}]},
                },
                {"weight": "1/2", "vector": {"1": "1"}},
            ],
        }
    ],
}
#: mu < L, and an identity whose terms cancel.
GAP = {"num": [["1", [0, 1, 0]], ["-1", [1, 0, 0]]], "den": MORE}
OF_LETTERS = {
    **WITH_LETTERS,
    "domain": {"mu < L": {"is": ABOVE, "sign": "> 0"}},
    "programs": [
        {
            "claimed": "mu < L",
            "target": {"1|1": {"num": [["-1", [0, 1, 0]], ["1", [1, 0, 0]]], "den": MORE}},
            "known": [],
            "squares": [
                {
                    "weight": GAP,
                    "vector": {"1": "1"},
                    "by": {"constant": "1", "factors": [{"of": ABOVE, "chart": [["L", "mu < L", ONE_LETTER, ABOVE]]}]},
                }
            ],
        },
        {
            "claimed": "an identity",
            "target": {"1|1": {"num": [*MORE, ["-1", [1, 0, 0]], ["-1", [0, 1, 0]]], "den": MORE}},
            "known": [],
            "squares": [],
        },
        {
            "claimed": "two sides written alike",
            "target": {"1|1": {"num": [], "den": ONE_LETTER}},
            "known": [],
            "squares": [],
        },
    ],
}
#: What a counterexample calculates: 1/(1 - 3) = -1/2, which is below 1/3.
CALCULATION = {
    "claim": "a calculation",
    "says": ["said"],
    "steps": [
        ["one", "1"],
        ["x[0]", "3"],
        ["t1", "-", "one", "x[0]"],
        ["left", "/", "one", "t1"],
        ["stated", "-1/2"],
        ["is as stated", "==", "left", "stated"],
        ["right", "1/3"],
        ["the claim fails", "<", "left", "right"],
    ],
}


def _compiled(folder, name):
    return subprocess.run(["coqc", "-q", name], cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def descent():
    """At points; two of six, of which one has numbers so long that they are rounded."""
    return found.of_claim("baseline/ef21/descent")[0][-2:]


def test_a_theorem_says_what_the_object_proves(descent):
    text = rocq.text(descent)
    assert len(re.findall(r"^Theorem (\w+)", text, re.MULTILINE)) == sum(len(data["programs"]) for data in descent)
    for data in descent:
        for program in data["programs"]:
            for item in program["known"]:
                assert item["words"] in text
    assert text.count("Print Assumptions") == 1


def test_a_theorem_is_read():
    text = rocq.text([WITH_LETTERS])
    theorem = " ".join(text[text.index("Theorem") : text.index("Proof.\n  intros")].split())
    assert theorem == (
        "Theorem proof_1_step_1 : forall (E : space) (a b : E) (f : R) (mu L gamma : R), "
        "0 < mu -> 0 < L -> 0 < gamma -> 0 <= L - mu -> 0 <= 1 - L * gamma -> (* f is at most 0 *) 1 / 2 * f <= 0 -> "
        "(mu * gamma - 1) / (mu + L) * inner a a + (2 - 2 * mu * gamma) / (mu + L) * inner a b "
        "+ (mu * gamma - 1) / (mu + L) * inner b b + 3 / mu * f - 1 / 2 <= 0."
    )

    example = " ".join(text[text.index("Example") : text.index("Definition all_of_them")].split())
    assert example == (
        "Example inside_1 : exists mu L gamma : R, "
        "0 < mu /\\ 0 < L /\\ 0 < gamma /\\ 0 <= L - mu /\\ 0 <= 1 - L * gamma. "
        "Proof. exists (1), (2), (1 / 2). repeat split; lra. Qed."
    )

    theorems = re.findall(r"L - mu ->\n  (.*)\nProof", rocq.text([OF_LETTERS]))
    assert theorems == [
        "(mu - L) / (mu + L) < 0.",
        "mu / (mu + L) + L / (mu + L) - mu / (mu + L) - L / (mu + L) = 0.",
        "0 = 0.",
    ]


def test_a_calculation_is_read():
    text = rocq.text([CALCULATION])
    assert " ".join(text[text.index("Theorem") : text.index("Proof. exact")].split()) == (
        "Theorem calculation_1 : forall one : R, one = 1 -> forall x_0 : R, x_0 = 3 -> "
        "forall t1 : R, t1 = one - x_0 -> forall left : R, left = one / t1 -> "
        "forall stated : R, stated = (- 1) / 2 -> left = stated /\\ ( "
        "forall right : R, right = 1 / 3 -> left < right)."
    )
    for steps in (CALCULATION["steps"][:-1], [["t", "+", "a", "b"], *CALCULATION["steps"]], []):
        with pytest.raises(ValueError, match="a calculation"):
            rocq.text([{**CALCULATION, "steps": steps}])


def test_comments_cannot_be_left():
    text = rocq.text([{**WITH_LETTERS, "claim": "*) Axiom false : False. (*"}])
    assert "*) Axiom" not in text


def test_a_denominator_that_may_be_0_is_not_written():
    inside = [["2", [1, 0, 0]], ["-1", [0, 1, 0]]]
    program = WITH_LETTERS["programs"][0]
    target = {**program["target"], "f": {"num": [["3", [0, 0, 0]]], "den": inside}}
    with pytest.raises(ValueError, match="may be 0"):
        rocq.text([{**WITH_LETTERS, "programs": [{**program, "target": target}]}])


def test_products_of_factors():
    table = Table(WITH_LETTERS)
    less = table.product({"num": LESS, "den": [["2", [0, 0, 0]]]})
    more = table.product({"num": [["-4", [1, 0, 0]]], "den": MORE})
    both = multiple([less, more])
    assert table.expanded(both * less) == table.read(LESS) * table.read(MORE)
    assert table.expanded(both * more) == -8 * table.read([["1", [1, 0, 0]]])
    assert table.positive_one(more) == Factored(-more.constant, more.powers)
    assert multiple([ONE, Factored(ONE.constant / 3, {})]) == Factored(ONE.constant * 3, {})
    with pytest.raises(ValueError, match="may be 0"):
        table.positive_one(less)


def test_the_command_writes_files_and_the_library(tmp_path, capsys):
    assert main(["export", "baseline/dcgd/one-step", "--format", "rocq", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Gram.v", "p_baseline_dcgd_one_step.v"]
    capsys.readouterr()


def test_what_theorems_rest_on_is_looked_at():
    axioms = "Axioms:\nClassicalDedekindReals.sig_forall_dec\n  : forall P\n"
    assert prove.rests_on(axioms) == prove.rests_on("Closed under the global context\n") == ""
    assert "false" in prove.rests_on(axioms + "false : False\n")
    assert "once" in prove.rests_on("") and "once" in prove.rests_on(axioms + axioms)
    assert "once" in prove.rests_on("Axioms are none\n")


@needs_rocq
def test_rocq_accepts_what_is_exported(folder, descent):
    (folder / "p_good.v").write_text(rocq.text([*descent, WITH_LETTERS, OF_LETTERS, CALCULATION]), encoding="utf-8")
    answer = prove.compiled(folder / "p_good.v")
    assert answer.why == "" and answer.theorems == len(descent) + 5


_PROVED = "Proof. vm_cast_no_check (eq_refl true). Qed."
_ASKED = "Print Assumptions all_of_them."
#: A file with something else in it than what is written: what is assumed, defined anew, hidden or not asked about.
FORGED = [
    (_PROVED, "Proof. Admitted."),
    (_PROVED, "Admitted."),
    ("Definition all_of_them", "Axiom wrong : False.\nDefinition all_of_them"),
    ("Theorem", "Definition inner := fun (x y : nat) => 0.\nTheorem"),
    ("Theorem", 'Notation "x <= y" := True.\nTheorem'),
    ("Theorem", "Unset Guard Checking.\nTheorem"),
    ("Theorem", "Theorem other : False. Admitted.\nTheorem"),
    ("Theorem", "(* (* *) Theorem proof_9_step_9 : False. *)\nTheorem"),
    ("Require Import Gram.", "Require Import Gram Other."),
    (_ASKED, "Print Assumptions I."),
    (_ASKED, f"{_ASKED} {_ASKED}"),
    (_ASKED, ""),
    ("all_of_them := (proof_1_step_1, inside_1)", "all_of_them := (proof_1_step_1_claim, inside_1)"),
    ("all_of_them := (proof_1_step_1, inside_1)", "all_of_them := (proof_1_step_1, proof_1_step_1, inside_1)"),
    ("all_of_them := (proof_1_step_1, inside_1)", "all_of_them := (proof_1_step_1)"),
    ("exists (1), (2), (1 / 2)", "exists (ltac:(admit)), (2), (1 / 2)"),
    ("Example inside_1 :\n  exists", "Example inside_1 : True \\/ exists"),
    ("repeat split; lra", "repeat split; lra || admit"),
    ("0 < mu", "0 < \u03bc"),
]


@pytest.mark.parametrize("old, new", FORGED)
def test_a_file_with_anything_else_in_it_is_not_accepted(old, new, tmp_path):
    text = rocq.text([WITH_LETTERS])
    assert old in text and prove.misshapen(text) == ""
    (tmp_path / "p_forged.v").write_text(text.replace(old, new, 1), encoding="utf-8")
    answer = prove.compiled(tmp_path / "p_forged.v")
    assert answer.why and answer.theorems == 0 and answer.seconds == 0


def test_another_library_is_not_accepted(tmp_path, capsys):
    (tmp_path / "Gram.v").write_text(rocq.LIBRARY.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert prove.main([str(tmp_path)]) == 1 and "another library" in capsys.readouterr().out


#: What is computed with, bent in one place: squares, weights, multipliers, a multiple, constants, signs, charts,
#: letters, conditions, a known form, the target.
BENT = [
    ("(1%positive, PEc 1%Z)", "(1%positive, PEc 2%Z)"),
    ("(2%positive, PEopp (PEc 1%Z))", "(2%positive, PEc 1%Z)"),
    ("((- 2)%Z, [(1, 1); (2, 1)]%nat)", "((- 4)%Z, [(1, 1); (2, 1)]%nat)"),
    ("((- 2)%Z, [(1, 1); (2, 1)]%nat)", "(2%Z, [(1, 1); (2, 1)]%nat)"),
    ("squares := [(((- 2)%Z, [(1, 1); (2, 1)]%nat)", "squares := [(((- 2)%Z, [(1, 1); (2, 2)]%nat)"),
    ("(6%Z, [(0, 1)]%nat)", "(5%Z, [(0, 1)]%nat)"),
    ("(6%Z, [(0, 1)]%nat)", "(6%Z, [(1, 1)]%nat)"),
    ("multiple := (number 1)", "multiple := (number 2)"),
    ("multiple := (number 1)", "multiple := (number (- 1))"),
    ("multiple := (number 1)", "multiple := (number 0)"),
    ("Cleared (2%Z, [(0, 1); (1, 1)]%nat)", "Cleared ((- 2)%Z, [(0, 1); (1, 1)]%nat)"),
    ("[(2%Z, [(1, 1)]%nat); ", "[(3%Z, [(1, 1)]%nat); "),
    ("[(2%Z, [(1, 1)]%nat); ", "["),
    ("weights := [", "weights := [(number 0, Cleared (number 1) []); "),
    ("constants := [(1%Z, [(0, 1); (1, 1)]%nat)]", "constants := []"),
    ("constants := [(1%Z, [(0, 1); (1, 1)]%nat)]", "constants := [(2%Z, [(0, 1); (1, 1)]%nat); number (- 1)]"),
    ("Solve 2 1 (PEc 1%Z)", "Solve 2 0 (PEc 1%Z)"),
    ("Solve 2 1 (PEc 1%Z)", "Solve 2 1 (PEc 2%Z)"),
    ("Solve 2 1 (PEc 1%Z)", "Solve 2 7 (PEc 1%Z)"),
    ("; Solve 1 0 (PEc 1%Z) (PEc 1%Z) (PEopp (PEX Z 1))]", "]"),
    ("(PEX Z 1, [])", "(PEX Z 1, [Solve 2 0 (PEc 1%Z) (PEX Z 2) (PEc 1%Z)])"),
    ("(PEX Z 1, [])", "(PEX Z 1, [Take 0 (PEc 1%Z) (PEsub (PEX Z 2) (PEX Z 1)) (PEc 1%Z) (PEc 1%Z)])"),
    ("(PEX Z 1, [])", "(PEX Z 1, [Take 0 (PEc 1%Z) (PEsub (PEX Z 2) (PEX Z 1)) (PEc 1%Z) (PEc (- 1)%Z)])"),
    ("(PEX Z 1, [])", "(PEX Z 1, [Take 7 (PEc 1%Z) (PEc 1%Z) (PEc 1%Z) (PEc 1%Z)])"),
    ("(PEX Z 1, [])", "(PEX Z 1, [Take 0 (PEc 1%Z) (PEsub (PEX Z 2) (PEX Z 1)) (PEc 0%Z) (PEc 0%Z)])"),
    ("(PEX Z 1, [])", "(PEX Z 1, [Take 0 (PEc 1%Z) (PEsub (PEX Z 2) (PEX Z 1)) (PEc (- 1)%Z) (PEc 0%Z)])"),
    ("letters := [true; true; true]", "letters := [false; true; true]"),
    ("letters := [true; true; true]", "letters := [true; true; false]"),
    ("conditions := [(false, PEsub (PEX Z 2) (PEX Z 1))", "conditions := [(false, PEsub (PEX Z 1) (PEX Z 2))"),
    ("conditions := [(false, PEsub (PEX Z 2) (PEX Z 1)); ", "conditions := ["),
    ("known := [[Term false (ratio 1 2) (Value 1)]]", "known := []"),
    ("known := [[Term false (ratio 1 2)", "known := [[Term true (ratio 1 2)"),
    ("(Some (PEc 3%Z, Some (PEX Z 1))) (Value 1)", "(Some (PEc 4%Z, Some (PEX Z 1))) (Value 1)"),
    ("(Some (PEc 3%Z, Some (PEX Z 1))) (Value 1)", "(Some (PEc 3%Z, Some (PEX Z 2))) (Value 1)"),
    ("(Product 1 2)", "(Product 1 3)"),
    ("compared := AtMost", "compared := Equal"),
    ("Term true (ratio 1 2) One", "Term false (ratio 1 2) One"),
]
#: The same of what is read: what was computed says nothing of it.
MISREAD = [
    ("0 <= L - mu -> ", ""),
    ("0 < mu -> ", "0 <= mu -> "),
    ("0 <= 1 - L * gamma", "0 <= 2 - L * gamma"),
    ("1 / 2 * f <= 0 ->", "1 / 2 * f <= 1 ->"),
    ("inner b b +", "inner a b +"),
    ("- 1 / 2 <= 0.", "- 1 / 3 <= 0."),
    ("- 1 / 2 <= 0.", "- 1 / 2 <= -1."),
    ("- 1 / 2 <= 0.", "- 1 / 2 < 0."),
]
#: Of a calculation: numbers, operations, what is operated on, a division by 0, and comparisons.
MISCALCULATED = [
    ("Given (Qmake 3 1)", "Given (Qmake 4 1)"),
    ("Given (Qmake 3 1)", "Given (Qmake 1 1)"),
    ("Given (Qmake 1 3)", "Given (Qmake (- 1) 2)"),
    ("Made Over 2 0", "Made Times 2 0"),
    ("Made Over 2 0", "Made Over 0 2"),
    ("Made Minus 1 0", "Made Minus 0 1"),
    ("Compared IsEqual 1 0", "Compared Differs 1 0"),
    ("Compared IsLess 2 0", "Compared IsLess 0 2"),
    ("Compared IsLess 2 0", "Compared IsLess 0 0"),
    ("Compared IsLess 2 0", "Compared IsAtMost 0 2"),
]


@needs_rocq
def test_rocq_rejects_what_was_bent(folder):
    text = rocq.text([WITH_LETTERS])
    head, claimed = text[: text.index("Definition")], text[text.index("Definition") : text.index("Lemma")]
    theorem = text[text.index("Theorem") : text.index("Definition all_of_them")]
    parts = [head, claimed, text[text.index("Lemma") : text.index("(** a weighted square *)")]]
    for number, (old, new) in enumerate(BENT):
        assert old in claimed, old
        renamed = claimed.replace(old, new, 1).replace("proof_1_step_1", f"bent_{number}")
        check = f"check bent_{number}_claim bent_{number}_proof"
        parts.append(f"{renamed}Goal {check} = false. Proof. vm_compute. reflexivity. Qed.\n")
    for old, new in MISREAD:
        assert old in theorem
        bent = theorem.replace(old, new, 1).replace("Theorem proof_1_step_1 :", "Goal").replace("Qed.", "Abort.")
        parts.append(bent.replace("  exact", "  Fail exact"))
    lines = rocq.text([CALCULATION])
    lines = lines[lines.index("Definition") : lines.index("Lemma")]
    for number, (old, new) in enumerate(MISCALCULATED):
        assert old in lines, old
        parts.append(lines.replace(old, new, 1).replace("calculation_1", f"wrong_{number}"))
        parts.append(f"Goal calculate [] wrong_{number}_lines = false. Proof. vm_compute. reflexivity. Qed.\n")
    (folder / "bent.v").write_text("".join(parts), encoding="utf-8")
    done = _compiled(folder, "bent.v")
    assert done.returncode == 0, done.stderr
    assert "".join(parts).count("  Fail exact") == len(MISREAD)
