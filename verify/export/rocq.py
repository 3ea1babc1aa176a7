"""Proof objects as files for Rocq (Coq 8.16): small theorems that a person reads, upon one library, ``Gram.v``.

The last theorem of a file says what the object proves: for every inner-product space, all vectors and values, and all
letters that the domain allows, the known inequalities imply the claimed one. Only its statement, and the library of
reals, have to be trusted: that weights and signs are right is computed by Rocq itself, in integers. Every sum and
polynomial is written twice, for people and for that computation, and Rocq finds that both mean the same.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from verify.export import rocq_terms
from verify.export.factored import ONE, Factored, Quotient, Solve, Table, Take, multiple
from verify.export.rocq_terms import names
from verify.export.shorter import shortened
from verify.multipliers import ratios
from verify.multipliers.ratios import Ratio, from_terms, polynomials, terms

#: The theorem from which all others follow.
LIBRARY = Path(__file__).with_name("library") / "Gram.v"
#: Steps of an order of growth that is still written.
LONGEST = 500
#: Stands for a space at which no line is broken.
_TOGETHER = "\N{NO-BREAK SPACE}"
_HEAD = """\
From Coq Require Import QArith Reals ZArith List Ring_polynom Lra.
Require Import Gram.
Import ListNotations.
Local Open Scope R_scope."""


def text(objects: Sequence[Mapping[str, Any]]) -> str:
    """The file of a claim's proof objects, a theorem for each inequality, or for what a counterexample calculates.

    ``ValueError`` for what is not written: a square with a denominator that may be 0.
    """
    parts, theorems = [_HEAD], []
    for number, data in enumerate(objects, 1):
        comments = [data["claim"], *data["says"]]
        if data.get("at"):
            comments.append("at " + ", ".join(f"{name} = {value}" for name, value in data["at"].items()))
        parts.append("(** " + "\n    ".join(map(_comment, comments)) + " *)")
        if "steps" in data:
            theorems.append(f"calculation_{number}")
            parts.append(rocq_terms.theorem(theorems[-1], data))
            continue
        table = Table(data)
        for step, program in enumerate(data["programs"], 1):
            theorems.append(f"proof_{number}_step_{step}")
            posed = taken_off(list(data["letters"]), program) if data["letters"] else shortened(program)
            parts.append(_Writing(data, table, posed).theorem(theorems[-1]))
        if data["letters"]:
            theorems.append(f"inside_{number}")
            parts.append(_inside(theorems[-1], data, table))
    parts.append(f"Definition all_of_them := ({', '.join(theorems)}).\nPrint Assumptions all_of_them.")
    return "\n\n".join(parts) + "\n"


def _comment(text: str) -> str:
    """A text without what would end a comment, or begin another."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")


def _conditions(data: Mapping[str, Any], table: Table, rocq_names: Mapping[str, str]) -> list[str]:
    """Return the conditions on the letters, by their names in Rocq."""
    letters = [rocq_names[letter] for letter in data["letters"]]
    signs = [(sign, rocq_names[letter]) for letter, sign in data["letters"].items()]
    signs += [(c["sign"], rocq_terms.read(table.domain[name], letters)) for name, c in data["domain"].items()]
    return [f"0 {'<' if sign == '> 0' else '<='} {of}" for sign, of in signs]


def _inside(name: str, data: Mapping[str, Any], table: Table) -> str:
    """Return the example that some letters meet the conditions of the theorems."""
    rocq_names = names(list(data["letters"]))
    values = ", ".join(f"({rocq_terms.fraction(Fraction(data['point'][letter]))})" for letter in data["letters"])
    conditions = " /\\ ".join(map(_together, _conditions(data, table, rocq_names)))
    lines = [f"Example {name} :", _wrapped(f"exists {' '.join(rocq_names.values())} : R, {conditions}.")]
    return "\n".join([*lines, "Proof.", _wrapped(f"exists {values}."), "  repeat split; lra.", "Qed."])


class _Term(NamedTuple):
    """A term of a sum: what stands before and after its coefficient, None where that is 1."""

    minus: bool
    coefficient: Quotient | None
    thing: str


class _Writing:
    """One inequality, with names in Rocq for all that it mentions."""

    def __init__(self, data: Mapping[str, Any], table: Table, program: Mapping[str, Any]) -> None:
        self._data, self._table, self._program = data, table, program
        forms = [program["target"], *(item["form"] for item in program["known"])]
        keys = {part for form in forms for thing in form if thing != "1|1" for part in _parts(thing)}
        rows = {part for form in forms for thing in form if "|" in thing and thing != "1|1" for part in _parts(thing)}
        rows |= {row for item in program["squares"] for row in item["vector"] if not _is_constant(item)}
        if "1" in rows:
            raise ValueError(f"the proof of {data['claim']} multiplies a vector by 1, which is not written for Rocq")
        self._vectors, self._values, self._letters = sorted(rows), sorted(keys - rows), list(data["letters"])
        self._names = names([*self._vectors, *self._values, *self._letters])
        self._rocq_letters = [self._names[letter] for letter in self._letters]

    @property
    def _relation(self) -> tuple[str, str]:
        """Return the theorem and the relation of the target: for letters alone, also that it is negative, or 0."""
        program = self._program
        if not program["known"] and not program["squares"]:
            return "Equal", "="
        positive = any(self._table.is_positive(self._weight(item)) for item in program["squares"])
        return ("Below", "<") if positive and not self._vectors and not self._values else ("AtMost", "<=")

    def theorem(self, name: str) -> str:
        """The claim and its proof as Rocq computes with them, and the theorem that is read."""
        known = [self._terms(item["form"]) for item in self._program["known"]]
        target = self._terms(self._program["target"])
        return "\n".join(
            [
                f"Definition {name}_claim : claim := {self._claim(target, known)}.",
                f"Definition {name}_proof : proof := {self._proof(target, known)}.",
                f"Lemma {name}_checked : check {name}_claim {name}_proof = true.",
                "Proof. vm_cast_no_check (eq_refl true). Qed.",
                f"(** {_comment(self._program['claimed'])} *)",
                f"Theorem {name} :",
                *self._statement(target, known),
                "Proof.",
                _wrapped(f"intros E {' '.join(self._names.values())}."),
                _wrapped(f"exact (holds _ _ {name}_checked E {' '.join(map(_list, self._named()))} eq_refl)."),
                "Qed.",
            ]
        )

    def _named(self) -> list[list[str]]:
        """The names of vectors, values and letters."""
        return [[self._names[name] for name in of] for of in (self._vectors, self._values, self._letters)]

    # Reading

    def _statement(self, target: list[_Term], known: list[list[_Term]]) -> list[str]:
        binders = [
            f"({' '.join(of)}{_TOGETHER}:{_TOGETHER}{kind})"
            for of, kind in zip(self._named(), "ERR", strict=True)
            if of
        ]
        lines = [_wrapped(" ".join(["forall (E : space)", *binders]) + ",")]
        conditions = _conditions(self._data, self._table, self._names)
        lines += [_wrapped(" ".join(_together(f"{one} ->") for one in conditions))] if conditions else []
        for item, sums in zip(self._program["known"], known, strict=True):
            lines += [f"  (* {_comment(item['words'])} *)", _wrapped(f"{self._sum(sums)} <= 0 ->")]
        return [*lines, _wrapped(f"{self._sum(target)} {self._relation[1]} 0.")]

    def _sum(self, terms: list[_Term]) -> str:
        """The sum as a person writes it."""
        out: list[str] = []
        for minus, c, thing in terms:
            term = self._thing(thing)
            if c is not None:
                size = rocq_terms.read_quotient(c.num, c.den, self._rocq_letters)
                term = size if thing == "1|1" else f"{size} * {term}"
            lead = "- " if minus else "+ " if out else ""
            out.append(_together(f"- ({term})" if minus and not out and c is not None else f"{lead}{term}"))
        return " ".join(out) or "0"

    def _thing(self, thing: str) -> str:
        if thing == "1|1":
            return "1"
        names = [self._names[part] for part in _parts(thing)]
        return f"inner {names[0]} {names[1]}" if "|" in thing else names[0]

    # Arithmetic

    def _terms(self, form: Mapping[str, Any]) -> list[_Term]:
        found = []
        for thing, c in form.items():
            whole = self._table.quotient(c)
            parts = [whole]
            if whole.num == 0:
                # A sum that vanishes when expanded is written term by term, and an empty one is left out.
                terms = [] if isinstance(c, str) else c["num"]
                parts = [self._table.quotient({"num": [term], "den": c["den"]}) for term in terms]
            for q in parts:
                minus = rocq_terms.has_no_positive(q.num)
                q = q._replace(num=-q.num) if minus else q
                found.append(_Term(minus, None if q.num == q.den else q, thing))
        return found

    def _claim(self, target: list[_Term], known: list[list[_Term]]) -> str:
        letters = [_bool(sign == "> 0") for sign in self._data["letters"].values()]
        conditions = [
            f"({_bool(c['sign'] == '> 0')}, {rocq_terms.computed(self._table.domain[name])})"
            for name, c in self._data["domain"].items()
        ]
        return (
            f"{{|\n  letters := {_list(letters)};\n  conditions := {_list(conditions)};\n"
            f"  known := {_list(map(self._computed, known))};\n  target := {self._computed(target)};\n"
            f"  compared := {self._relation[0]} |}}"
        )

    def _computed(self, terms: list[_Term]) -> str:
        return _list(f"Term {_bool(minus)} {_coefficient(c)} {self._place(thing)}" for minus, c, thing in terms)

    def _place(self, thing: str) -> str:
        if thing == "1|1":
            return "One"
        if "|" not in thing:
            return f"(Value {self._values.index(thing) + 1})"
        a, b = (self._vectors.index(part) + 1 for part in _parts(thing))
        return f"(Product {a} {b})"

    def _proof(self, target: list[_Term], known: list[list[_Term]]) -> str:
        """Weights after all denominators are cleared: a multiple of the target is a sum of integers and polynomials."""
        table, program = self._table, self._program
        scale, scales = self._scale(target), [self._scale(terms) for terms in known]
        weights = [self._weight(item) for item in program["known"]]
        constants, squares = [], []
        for item in program["squares"]:
            weight = self._weight(item)
            if _is_constant(item):
                constants.append(weight)
                continue
            entries = {row: table.quotient(c) for row, c in item["vector"].items()}
            up = multiple(q.of_den.inverse() for q in entries.values())
            vector = {row: q.num * table.expanded(up * q.of_den.inverse()) for row, q in entries.items()}
            squares.append((weight * (up * up).inverse(), vector))
        of_known = [w * s.inverse() for w, s in zip(weights, scales, strict=True)]
        m = table.positive_one(multiple([scale.inverse(), *of_known, *(w for w, _ in squares), *constants]))
        uses = _list(
            f"({_product(m * w)}, {self._cleared(s, terms)})"
            for w, s, terms in zip(of_known, scales, known, strict=True)
        )
        lengths = _list(f"({_product(m * w)}, {self._vector(vector)})" for w, vector in squares)
        fields = [
            f"main := {self._cleared(scale, target)}",
            f"multiple := {_product(m * scale.inverse())}",
            f"weights := {uses}",
            f"squares := {lengths}",
            f"constants := {_list(_product(m * w) for w in constants)}",
        ]
        # Factors are in the table once everything else was written.
        charts = _list(f"({rocq_terms.computed(f.of)}, {_list(map(_step, f.chart.steps))})" for f in table.factors)
        return "{|\n  " + ";\n  ".join([f"charts := {charts}", *fields]) + " |}"

    def _weight(self, item: Mapping[str, Any]) -> Factored:
        """The weight of what is known, or of a square; times what is squared where that is a number."""
        weight = self._table.product(item["weight"], item.get("by"))
        if not _is_constant(item):
            return weight
        one = self._table.product(item["vector"]["1"])
        return weight * one * one

    def _scale(self, terms: list[_Term]) -> Factored:
        """Return a positive factor that clears all denominators of a sum."""
        return self._table.positive_one(multiple(c.of_den.inverse() if c else ONE for _, c, _ in terms))

    def _cleared(self, scale: Factored, terms: list[_Term]) -> str:
        cofactors = [scale * (c.of_den.inverse() if c else ONE) for _, c, _ in terms]
        return f"Cleared {_product(scale)} {_list(map(_product, cofactors))}"

    def _vector(self, vector: Mapping[str, Any]) -> str:
        return _list(
            f"({self._vectors.index(row) + 1}%positive, {rocq_terms.computed(p)})" for row, p in vector.items()
        )


def _is_constant(item: Mapping[str, Any]) -> bool:
    """Return True if the square is of a number."""
    return set(item.get("vector", ())) == {"1"}


def _coefficient(c: Quotient | None) -> str:
    if c is None:
        return "None"
    if c.num.is_constant() and c.den.is_constant():
        num, den = (rocq_terms.integer(ratios.terms(p)[0][1]) for p in (c.num, c.den))
        return f"(whole {num})" if c.den == 1 else f"(ratio {num} {den})"
    den = "None" if c.den == 1 else f"Some ({rocq_terms.computed(c.den)})"
    return f"(Some ({rocq_terms.computed(c.num)}, {den}))"


def _product(x: Factored) -> str:
    if not x.powers:
        return f"(number {rocq_terms.integer(x.constant)})"
    powers = "; ".join(f"({j}, {k})" for j, k in sorted(x.powers.items()))
    return f"({rocq_terms.integer(x.constant)}%Z, [{powers}]%nat)"


def _step(step: Solve | Take) -> str:
    if isinstance(step, Take):
        return f"Take {step.place} {_polynomials(step.times, step.left, step.by, step.more)}"
    return f"Solve {step.letter} {step.place} {_polynomials(step.times, step.slope, step.rest)}"


def _polynomials(*of: Any) -> str:
    return " ".join(f"({rocq_terms.computed(p)})" for p in of)


def _parts(thing: str) -> list[str]:
    return thing.split("|")


def _list(of: Iterable[Any]) -> str:
    return f"[{'; '.join(of)}]"


def _bool(truth: bool) -> str:
    return "true" if truth else "false"


def _wrapped(text: str) -> str:
    lines = textwrap.fill(text, 118, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
    return lines.replace(_TOGETHER, " ")


def _together(text: str) -> str:
    """A text that is broken into no two lines."""
    return text.replace(" ", _TOGETHER)


def taken_off(letters: Sequence[str], program: Mapping[str, Any]) -> dict[str, Any]:
    """The program with target - sum of weight * shared for its target: summed over the clients, no more than that."""
    shared = [item for item in program["known"] if "shared" in item]
    if not shared:
        return dict(program)
    target = {key: _read(letters, c) for key, c in program["target"].items()}
    zero = Ratio.of(*(polynomials(letters).constant(k) for k in (0, 1)))
    for item in shared:
        weight = _read(letters, item["weight"])
        for key, c in item["form"].items():
            same = next((k for k in target if sorted(k.split("|")) == sorted(key.split("|"))), key)
            target[same] = target.get(same, zero) - weight * _read(letters, c)
    written = {key: _written(c) for key, c in target.items() if not c.is_zero}
    claimed = f"{program['claimed']}, less what is shared, with its weights"
    known = [item for item in program["known"] if "shared" not in item]
    return {**program, "claimed": claimed, "target": written, "known": known}


def _read(letters: Sequence[str], c: Any) -> Ratio:
    ring = polynomials(letters)
    if isinstance(c, str):
        return Ratio.of(ring.constant(1), ring.constant(1)) * Fraction(c)
    parts = ({tuple(m): Fraction(number) for number, m in of} for of in (c["num"], c["den"]))
    return Ratio.of(*(from_terms(ring, of) for of in parts))


def _written(c: Ratio) -> dict[str, Any]:
    num, den = ([[str(number), list(m)] for m, number in terms(p)] for p in (c.num, c.den))
    return {"num": num, "den": den}
