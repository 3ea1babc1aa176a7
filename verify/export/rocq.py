"""Proof objects as files for Rocq (Coq 8.16): small theorems that a person reads, upon one library, ``Gram.v``.

The last theorem of a file says what the object proves: for every inner-product space, all vectors and all values, the
known inequalities imply the claimed one. Only its statement, and the library of reals, have to be trusted: that the
weights are right is computed by Rocq itself, in integers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

#: The theorem from which all others follow.
LIBRARY = Path(__file__).with_name("library") / "Gram.v"
#: Words that are no names in Rocq.
_RESERVED = {
    "as",
    "at",
    "cofix",
    "else",
    "end",
    "exists",
    "fix",
    "for",
    "forall",
    "fun",
    "if",
    "in",
    "let",
    "match",
    "mod",
}
_RESERVED |= {"Prop", "return", "Set", "then", "Type", "using", "where", "with", "E", "R", "f", "t", "v"}


def text(objects: Sequence[Mapping[str, Any]]) -> str:
    """The file of a claim's proof objects, a theorem for each inequality. ``ValueError`` for one with letters."""
    parts = ["From Coq Require Import Reals ZArith List Lra.\nRequire Import Gram.\nImport ListNotations."]
    parts.append("Local Open Scope R_scope.")
    for number, data in enumerate(objects, 1):
        if data["letters"]:
            raise ValueError(f"the proof of {data['claim']} has letters, which are not written for Rocq")
        said = [data["claim"], *data["says"]]
        if data["at"]:
            said.append("at " + ", ".join(f"{name} = {value}" for name, value in data["at"].items()))
        parts.append("(** " + "\n    ".join(map(_comment, said)) + " *)")
        for step, program in enumerate(data["programs"], 1):
            parts.append(_program(f"proof_{number}_step_{step}", program))
    return "\n\n".join(parts) + "\n"


def _comment(text: str) -> str:
    """A text without what would end a comment, or begin another."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")


def _program(name: str, program: Mapping[str, Any]) -> str:
    target, known = _numbers(program["target"]), [_numbers(item["form"]) for item in program["known"]]
    squares = [_numbers(item["vector"]) for item in program["squares"]]
    forms = [target, *known]
    rows = sorted({part for form in forms for key in form for part in key.split("|") if "|" in key}.union(*squares))
    values = sorted({key for form in forms for key in form if "|" not in key})
    names = _names([*rows, *values])
    place = {row: k for k, row in enumerate(rows, 1)} | {value: k for k, value in enumerate(values, 1)}
    weights = [Fraction(item["weight"]) for item in program["known"]]
    scales = [_scale(form) for form in known]
    of_known = [w / s for w, s in zip(weights, scales, strict=True)]
    of_squares = [
        Fraction(item["weight"]) / _scale(v) ** 2 for item, v in zip(program["squares"], squares, strict=True)
    ]
    m = lcm(_scale(target), *(w.denominator for w in (*of_known, *of_squares)))
    read = [_readable(form, names) for form in known]
    lines = [f"(** {_comment(program['claimed'])} *)", f"Theorem {name} :"]
    lines += _quantified([names[row] for row in rows if row != "1"], [names[value] for value in values])
    if "1" in names:
        lines.append(f"  forall {names['1']} : E, inner {names['1']} {names['1']} = 1 ->")
    for item, form in zip(program["known"], read, strict=True):
        lines += [f"  (* {_comment(item['words'])} *)", f"  {form} <= 0 ->"]
    lines += [f"  {_readable(target, names)} <= 0.", "Proof."]
    introduced = [names[row] for row in rows if row != "1"] + [names[value] for value in values]
    one = [names["1"], "H_one"] if "1" in names else []
    lines.append(f"  intros E {' '.join([*introduced, *one])}.")
    lines.append(f"  pose (v := {_table('zero E', [names[row] for row in rows])}).")
    lines.append(f"  pose (f := {_table('0', [names[value] for value in values])}).")
    listed = []
    for k, (of, scale) in enumerate(zip(known, scales, strict=True), 1):
        lines.append(f"  pose (k{k} := {_form(of, scale, place)}).")
        lines.append(f"  assert (K{k} : meaning E v f k{k} = {scale} * ({read[k - 1]})) by ({_reads(f'k{k}')}).")
        listed.append(f"({_integer(of_known[k - 1] * m)}, k{k})")
    lines.append(f"  pose (t := {_form(target, _scale(target), place)}).")
    lines.append(
        f"  assert (T : meaning E v f t = {_scale(target)} * ({_readable(target, names)})) by ({_reads('t')})."
    )
    hypotheses = [f"H{k}" for k in range(1, len(known) + 1)]
    lines += [f"  intros {' '.join(hypotheses)}."] if hypotheses else []
    lines.append(f"  apply (nonpositive _ _ {_scale(target)} T); [lra|].")
    vectors = [
        f"({_integer(w * m)}, [{_pairs(v, _scale(v), place)}])" for w, v in zip(of_squares, squares, strict=True)
    ]
    lines.append(f"  apply (sound E v f {_integer(Fraction(m, _scale(target)))} t")
    lines.append(f"    [{'; '.join(listed)}]")
    lines.append(f"    [{'; '.join(vectors)}]); [vm_cast_no_check (eq_refl true)|].")
    for k, scale in enumerate(scales, 1):
        lines.append(f"  apply Forall_cons; [apply (multiple _ _ {scale} K{k}); [lra|exact H{k}]|].")
    lines += ["  apply Forall_nil.", "Qed.", f"Print Assumptions {name}."]
    return "\n".join(lines)


def _reads(form: str) -> str:
    """How a form in integers is read back: it is linear in products and values."""
    unfolded = f"unfold {form}, meaning, meaning_products, meaning_values; cbn [products values fold_right]"
    return f"{unfolded}; unfold v, f; cbv beta iota; try rewrite !H_one; lra"


def _numbers(form: Mapping[str, str]) -> dict[str, Fraction]:
    return {key: Fraction(c) for key, c in form.items()}


def _scale(form: Mapping[str, Fraction]) -> int:
    """The least number of which the multiple of a form has whole coefficients."""
    return lcm(*(c.denominator for c in form.values()))


def _integer(c: Fraction) -> str:
    assert c.denominator == 1
    # Long numbers are read much faster in hexadecimal.
    return f"({c.numerator if abs(c) < 10**6 else hex(c.numerator)})%Z"


def _names(listed: Iterable[str]) -> dict[str, str]:
    """Names of Rocq's for vectors and values, different ones for different ones."""
    found: dict[str, str] = {}
    for name in listed:
        plain = re.sub(r"\W+", "_", name.removeprefix("state: "), flags=re.ASCII).strip("_")
        plain = plain if plain[:1].isalpha() and plain not in _RESERVED else f"v_{plain}"
        while plain in found.values():
            plain += "'"
        found[name] = plain
    return found


def _quantified(vectors: Sequence[str], values: Sequence[str]) -> list[str]:
    binders = [f"({' '.join(vectors)} : E)"] if vectors else []
    binders += [f"({' '.join(values)} : R)"] if values else []
    return [f"  forall (E : space) {' '.join(binders)},"]


def _readable(form: Mapping[str, Fraction], names: Mapping[str, str]) -> str:
    """The form as a person writes it."""
    if not form:
        return "0"
    out: list[str] = []
    for key, c in form.items():
        a, _, b = key.partition("|")
        thing = f"inner {names[a]} {names[b]}" if b else names[key]
        size = "" if abs(c) == 1 else f"{abs(c)} * "
        out.append(f"{'- ' if c < 0 else '+ ' if out else ''}{size}{thing}")
    return " ".join(out)


def _table(default: str, names: Sequence[str]) -> str:
    cases = "".join(f" | {k}%positive => {name}" for k, name in enumerate(names, 1))
    return f"fun p : positive => match p with{cases} | _ => {default} end"


def _form(form: Mapping[str, Fraction], scale: int, place: Mapping[str, int]) -> str:
    products = {tuple(key.split("|")): c * scale for key, c in form.items() if "|" in key}
    listed = "; ".join(f"({place[a]}, {place[b]}, {_integer(c)})" for (a, b), c in products.items())
    values = _pairs({key: c for key, c in form.items() if "|" not in key}, scale, place)
    return f"{{| products := [{listed}]%positive; values := [{values}] |}}"


def _pairs(form: Mapping[str, Fraction], scale: int, place: Mapping[str, int]) -> str:
    return "; ".join(f"({place[key]}%positive, {_integer(c * scale)})" for key, c in form.items())
