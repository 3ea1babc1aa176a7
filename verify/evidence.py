"""Verdicts, the evidence for them, and counterexamples that can be stored and replayed."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mpmath
import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe

if TYPE_CHECKING:
    from verify.outcome import Outcome

#: Parts of a statement that a counterexample's file can carry as text.
_STORABLE = ("factor", "bound", "omega", "left", "right", "bits", "constant", "initial", "middle")


class Verdict(StrEnum):
    """What the evidence says of a claim; one vocabulary for claims, methods and single programs.

    ``OPEN`` is said of a program or a number only, where no computation decided it, and never of a claim.
    """

    PROVED = "proved"
    CERTIFIED = "certified"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    ILL_POSED = "ill-posed"
    NOT_TESTED = "not-tested"
    OPEN = "open"


@dataclass(frozen=True)
class Counterexample:
    """An instance on which a claim fails.

    ``recipe`` and ``point`` fix the problem, the parameters and the state; ``rounds``: after how many rounds;
    ``part``: which comparison of the statement; ``entry``: which entry of it; ``left``, ``right``: the two sides,
    fractions or 50-digit reals; ``relation``: what the claim says of them; ``text``: the instance in words.
    """

    claim: Claim = field(repr=False)
    recipe: Recipe
    point: tuple[Fraction, ...]
    rounds: int
    part: str
    entry: int
    left: Any
    right: Any
    relation: str
    text: str

    def replay(self) -> tuple[Any, Any]:
        """(left, right), evaluated again from the recipe in exact or 50-digit arithmetic."""
        from verify.methods.refutation import evaluate_at

        return evaluate_at(self.claim, self.recipe, self.point, self.rounds, self.part, self.entry)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``from_json`` gives the counterexample back."""
        statement = self.claim.statement
        return {
            "claim": self.claim.id,
            "changes": {
                name: str(getattr(statement, name)) if name in _STORABLE else None for name in self.claim.changes
            },
            "recipe": _encode(self.recipe),
            "point": [str(v) for v in self.point],
            "rounds": self.rounds,
            "part": self.part,
            "entry": self.entry,
            "left": number(self.left),
            "relation": self.relation,
            "right": number(self.right),
            "text": self.text,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Counterexample:
        """The counterexample stored by ``to_json``. ``ValueError`` when a part is missing or cannot be rebuilt."""
        try:
            claim = _rebuild_claim(str(data["claim"]), data["changes"])
            return Counterexample(
                claim,
                _decode(data["recipe"]),
                tuple(Fraction(v) for v in data["point"]),
                int(data["rounds"]),
                str(data["part"]),
                int(data["entry"]),
                _number_from(data["left"]),
                _number_from(data["right"]),
                str(data["relation"]),
                str(data["text"]),
            )
        except (KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
            raise ValueError(f"this is not a stored counterexample: {error!r}") from error


def load(path: Path) -> Counterexample:
    """The counterexample in a JSON file; ``ValueError`` of one sentence when it cannot be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ValueError(f"{path} does not hold a counterexample")
    return Counterexample.from_json(data)


def _rebuild_claim(id: str, changes: Mapping[str, str | None]) -> Claim:
    claim = claims.get(id.rstrip("*"))
    lost = [name for name, text in changes.items() if text is None]
    if lost:
        raise ValueError(f"{id} was changed in {', '.join(lost)}, which a file cannot hold: replay it in Python")
    if not changes:
        return claim
    symbols = {str(s): s for s in _symbols(claim)}
    return claim.variant(**{name: _expression(str(text), symbols) for name, text in changes.items()})


def _expression(text: str, symbols: Mapping[str, sympy.Symbol]) -> sympy.Expr:
    """The expression written by ``str``. sympy runs text as code, so only arithmetic on known names is let through."""
    allowed = (
        ast.Expression,
        ast.BinOp,
        ast.UnaryOp,
        ast.operator,
        ast.unaryop,
        ast.Call,
        ast.Name,
        ast.Load,
        ast.Constant,
    )
    functions = {"Max", "Min", "sqrt", "log", "ceiling"}
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not an expression") from error
    for node in nodes:
        named = not isinstance(node, ast.Name) or node.id in symbols or node.id in functions
        plain = not isinstance(node, ast.Constant) or isinstance(node.value, int | float)
        if not (isinstance(node, allowed) and named and plain):
            raise ValueError(f"{text!r} is not an expression in the symbols of the claim")
    return sympy.sympify(text, locals=dict(symbols))


def _symbols(claim: Claim) -> set[sympy.Symbol]:
    found: set[sympy.Symbol] = set()
    for name in (*_STORABLE, "d", "k"):
        part = getattr(claim.statement, name, None)
        if isinstance(part, sympy.Basic):
            found |= part.free_symbols
    return found


def _encode(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _encode(v) for key, v in value.items()}
    if isinstance(value, tuple):
        return [_encode(v) for v in value]
    return value if isinstance(value, int | str) else {"ratio": str(value)}


def _decode(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Fraction(value["ratio"]) if set(value) == {"ratio"} else {k: _decode(v) for k, v in value.items()}
    return tuple(_decode(v) for v in value) if isinstance(value, list) else value


def number(value: Any) -> str:
    """A fraction as "a/b", a high-precision real with 30 digits, a float as it is."""
    return mpmath.nstr(value, 30) if isinstance(value, mpmath.mpf) else str(value)


def _number_from(text: str) -> Any:
    try:
        return Fraction(text)
    except ValueError:
        return mpmath.mpf(text)


@dataclass(frozen=True)
class Evidence:
    """What was found about a claim.

    ``outcomes``: what each method found, in the order in which they ran; the verdict is the strongest of theirs.
    ``margin``: 1 - (worst observed left side / right side), for an identity minus the relative residual; where the
    right side can vanish or be negative, relative to |left| + |right|; None when nothing was measured, -inf when a side
    is not a number (null in JSON, as is None). ``methods``: in the order used. ``instances``: how many met the
    hypotheses. ``tightest``: the recipe of the worst instance. ``note``: what the verdict rests on, or why there is
    none.
    """

    claim: Claim = field(repr=False)
    verdict: Verdict
    margin: float | None
    methods: tuple[str, ...]
    instances: int
    counterexample: Counterexample | None = None
    tightest: Recipe | None = None
    note: str = ""
    seconds: float = 0.0
    outcomes: tuple[Outcome, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The claim's entry in the audit's JSON."""
        repaired = f"{self.claim.id}/repaired"
        known = {c.id for c in claims.all()}
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "where": self.claim.where,
            "kind": self.claim.kind,
            "verdict": str(self.verdict),
            "margin": self.margin if self.margin is not None and math.isfinite(self.margin) else None,
            "methods": list(self.methods),
            "instances": self.instances,
            "counterexample": self.counterexample.to_json() if self.counterexample else None,
            "repaired": repaired if repaired in known else None,
            "note": self.note,
            "seconds": round(self.seconds, 3),
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
        }
