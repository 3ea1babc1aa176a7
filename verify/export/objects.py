"""Proof objects: what a certificate proves, by which known inequalities, as data that :mod:`verify.checker` checks.

An object holds every number of the proof, so that nothing of this package is needed to check it: the claimed form of
each step, the known forms with their weights and where each comes from, and the squares that are left. Its format is
described in :mod:`verify.checker`. Its words are kept as data beside it, to be printed in another way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, overload

from sympy.polys.fields import FracElement

from verify import checker
from verify.base.case import Case
from verify.evidence.certificates import ClassCertificate
from verify.exact import elimination
from verify.multipliers.reasons import Reason
from verify.pep.generic_states import formal_sides, quadratic
from verify.pep.gram import BasisVector, Form, Vector
from verify.pep.programs import Certificate
from verify.report import statement

#: The certificate of what needs no multipliers.
FORMALLY = "all states"
_COMPUTED = (
    "both sides are what the code computes of a state of which nothing is known: sums of the vectors, products and "
    "values below, or polynomials in its coordinates, both sides multiplied by what they are divided by. That the code "
    "computes them is not shown here"
)


@dataclass(frozen=True)
class Reasons:
    """The words of objects as data: of known inequalities by their names and words, and of lines by the lines."""

    known: Mapping[tuple[str, str], Reason] = field(default_factory=dict)
    lines: Mapping[str, Reason] = field(default_factory=dict)

    def of(self, item: Mapping[str, Any]) -> Reason | None:
        """Return where a known inequality of an object comes from; None where there are only words."""
        return self.known.get((item["name"], item["words"]))

    def __or__(self, other: Reasons) -> Reasons:
        return Reasons({**self.known, **other.known}, {**self.lines, **other.lines})


@dataclass(frozen=True)
class ProofObjects(Sequence[dict[str, Any]]):
    """The objects of a proof, and their words as data."""

    each: tuple[dict[str, Any], ...] = ()
    reasons: Reasons = Reasons()

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[dict[str, Any], ...]: ...
    def __getitem__(self, place: int | slice) -> dict[str, Any] | tuple[dict[str, Any], ...]:
        return self.each[place]

    def __len__(self) -> int:
        return len(self.each)

    @classmethod
    def of(cls, objects: Sequence[dict[str, Any]]) -> ProofObjects:
        """Return objects as such, whether or not their words are known as data."""
        return objects if isinstance(objects, ProofObjects) else cls(tuple(objects))

    @classmethod
    def joined(cls, parts: Iterable[ProofObjects]) -> ProofObjects:
        """Return the objects of several proofs."""
        each, reasons = list[dict[str, Any]](), Reasons()
        for part in parts:
            each += part.each
            reasons |= part.reasons
        return cls(tuple(each), reasons)

    def saying(self, line: Reason, **fields: str) -> ProofObjects:
        """Return the objects with a line in front of all others, and some of their fields replaced."""
        text = in_ascii(str(line))
        each = (sealed({**one, **fields, "says": [text, *one["says"]]}) for one in self.each)
        return ProofObjects(tuple(each), self.reasons | Reasons(lines={text: line}))


def of(certificate: ClassCertificate) -> dict[str, Any] | None:
    """The proof object of a certificate, posed anew and checked; None where it has no content but a recomputation.

    ``ValueError`` says what does not hold.
    """
    proofs, says = certificate.proofs(), statement.text(certificate.claim)
    programs = [program(name, proof) for name, proof in proofs.items()]
    if not proofs and certificate.method == FORMALLY:
        programs, says = _in_all_states(certificate), [*says, _COMPUTED]
    if not programs:
        return None
    return sealed(
        {
            "format": checker.FORMAT,
            "kind": "identity",
            "claim": certificate.claim.id,
            "says": says,
            "at": dict(certificate.letters),
            "letters": {},
            "domain": {},
            "nonzero": [],
            "programs": programs,
        }
    )


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """The object in plain letters, with a digest of all that it holds, so that a slip in a file is noticed.

    Raise ``ValueError`` if a name would then be another's.
    """
    text = json.dumps(data, ensure_ascii=False)
    if any(_code(c) in text for c in set(text) if not c.isascii() or c == "\\"):
        raise ValueError(f"in the proof of {data['claim']} a name is written as another is in plain letters")
    plain = in_ascii(data)
    whole = json.dumps({**plain, "digest": ""}, sort_keys=True).encode()
    return {**plain, "digest": hashlib.sha256(whole).hexdigest()}


def _code(c: str) -> str:
    return f"u{ord(c):04x}"


def in_ascii(x: Any) -> Any:
    """Data whose texts, such as the names of a theorem of one's own, have printable ASCII alone, and no backslash."""
    if isinstance(x, str):
        return "".join(c if c.isascii() and c.isprintable() and c != "\\" else _code(c) for c in x)
    if isinstance(x, Mapping):
        return {in_ascii(key): in_ascii(value) for key, value in x.items()}
    return [*map(in_ascii, x)] if isinstance(x, list | tuple) else x


def program(name: str, proof: Certificate) -> dict[str, Any]:
    """One step: objective - bound is at most 0, by the multipliers and by squares."""
    by_name = {constraint.name: constraint for constraint in proof.program.constraints}
    known = [
        {"name": k, "words": by_name[k].why() or k, "form": _form(by_name[k].form), "weight": str(m)}
        for k, m in proof.multipliers.items()
        if m != 0
    ]
    return {
        "claimed": f"{name}: the target is at most 0",
        "target": _form(proof.program.objective - proof.bound),
        "known": known,
        "squares": list(_squares(proof.slack())),
    }


def _in_all_states(certificate: ClassCertificate) -> list[dict[str, Any]]:
    """Each comparison of a claim, of both sides as its code computes them of any state: alike ones once."""
    claim, found = certificate.claim, dict[str, dict[str, Any]]()
    for relation, left, right in formal_sides(Case(claim, certificate.recipe)):
        program: dict[str, Any] = {"known": [], "squares": []}
        if relation == "==":
            one, other = _cleared(left, right)
            pairs = {key: [(of[key], sign) for of, sign in ((one, 1), (other, -1)) if key in of] for key in one | other}
            target = {key: {"num": [[str(s * c), []] for c, s in of], "den": [["1", []]]} for key, of in pairs.items()}
            program |= {"claimed": "the target, left - right, is 0", "target": target}
        else:
            gap = right - left
            slack = quadratic(gap) if isinstance(gap, FracElement) else Form({}, {}, gap)
            assert slack is not None, "the certificate was replayed"
            program |= {"claimed": "the target, left - right, is at most 0", "target": _form(-slack)}
            program["squares"] = list(_squares(slack))
        found.setdefault(json.dumps(program), program)
    return list(found.values())


def _cleared(left: Any, right: Any) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Return the coefficients of vectors, products, values and monomials of two sides, over a common denominator."""
    one = next((side for side in (left, right) if isinstance(side, FracElement)), None)
    if one is None:
        return _parts(left), _parts(right)
    left, right = (one * 0 + side for side in (left, right))
    return _monomials(left.numer * right.denom), _monomials(right.numer * left.denom)


def _parts(side: Any) -> dict[str, Fraction]:
    if isinstance(side, Vector):
        return {_name(row): Fraction(c) for row, c in side.coefficients.items()}
    return {key: Fraction(c) for key, c in _form(side if isinstance(side, Form) else Form({}, {}, side)).items()}


def _monomials(p: Any) -> dict[str, Fraction]:
    names = [str(s) for s in p.ring.symbols]
    found = {}
    for powers, c in p.iterterms():
        parts = [name if k == 1 else f"{name}^{k}" for name, k in zip(names, powers, strict=True) if k]
        found[" ".join(parts) or "1|1"] = Fraction(int(c.numerator), int(c.denominator))
    return found


def _form(form: Form) -> dict[str, str]:
    """Coefficients by the products that they stand before; those of function values by their names."""
    found = {f"{_name(a)}|{_name(b)}": str(c) for (a, b), c in form.entries.items()}
    found |= {_plain(name): str(c) for name, c in form.values.items()}
    return found | ({"1|1": str(form.constant)} if form.constant else {})


def _name(row: BasisVector) -> str:
    return _plain(f"{row.block}: {row.name}")


def _plain(name: str) -> str:
    return name.replace("|", "/")


def _squares(slack: Form) -> Iterator[dict[str, Any]]:
    """A nonnegative form as squares with weights: exact elimination, block by block, and what is constant."""
    for block in sorted({row.block for row in slack.rows}):
        rows = sorted(row for row in slack.rows if row.block == block)
        for pivot, vector in elimination.squares(slack.matrix(rows)):
            yield {"weight": str(pivot), "vector": {_name(rows[j]): str(c) for j, c in vector.items()}}
    if slack.constant:
        yield {"weight": str(slack.constant), "vector": {"1": "1"}}
