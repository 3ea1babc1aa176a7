"""Counterexamples in files, and what certificates in files share with them: written as JSON, read back without trust.

A file says which claim, which changes of it, which instance and what the two sides were. What the claim says of them
it cannot say: the relation follows from the claim and the part of it. Everything is bounded before anything is
computed, and texts are read by :mod:`verify.parsing`, never run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

import mpmath
import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.statements import Bound, CompressorClass, Experiment, Fails, Invariant, Limit, Order, Untested
from verify import limits
from verify.evidence import Counterexample, number
from verify.parsing import expression, fraction, real, written
from verify.report.plain import quoted

T = TypeVar("T")

#: Parts of a statement that a counterexample's file can carry as text.
STORABLE = ("factor", "bound", "omega", "left", "right", "bits", "constant", "initial", "middle")
#: What a file holds, in order.
FIELDS = ("claim", "changes", "recipe", "point", "rounds", "part", "entry", "left", "relation", "right", "text")
#: Bytes of a file; values of a recipe, how deep it nests, its largest integer; coordinates of a point; entries.
FILE, VALUES, NESTED, INTEGER, COORDINATES, ENTRIES = 4_000_000, 5000, 6, 10**12, 5000, 10**6
#: Bytes of an audit's file.
AUDIT = 200_000_000
#: Characters of a text, and of the name of something.
WORDS, NAME = 10_000, 200
#: The comparisons of a compressor's class.
_COMPRESSOR = {"mean": "==", "variance": "<=", "its own omega": "<=", "floats": "==", "sampled": "==", "bits": "=="}
_WORD = re.compile(r"[^\W\d]\w{0,39}'?", re.ASCII)


def to_json(example: Counterexample) -> dict[str, Any]:
    """A JSON object; :func:`from_json` gives the counterexample back."""
    claim = example.claim
    return {
        "claim": claim.id,
        "changes": changes(claim),
        "recipe": encode(example.recipe),
        "point": [written(v) for v in example.point],
        "rounds": example.rounds,
        "part": example.part,
        "entry": example.entry,
        "left": number(example.left),
        "relation": example.relation,
        "right": number(example.right),
        "text": example.text,
    }


def changes(claim: Claim) -> dict[str, str | None]:
    """What was changed in a claim, as text; None where a file cannot hold it."""
    return {name: str(getattr(claim.statement, name)) if name in STORABLE else None for name in claim.changes}


def load(path: Path) -> Counterexample:
    """The counterexample in a JSON file; ``ValueError`` of one sentence, with the file and the field, if there is none.

    The claim is rebuilt, nothing is evaluated.
    """
    data = read(path)
    if data is None:
        raise ValueError(f"{path} does not hold a counterexample: a JSON object was expected")
    try:
        return from_json(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def read(path: Path, most: int = FILE) -> dict[str, Any] | None:
    """The object in a JSON file of at most so many bytes, None if it holds something else.

    ``ValueError`` of one sentence, with the file, when it cannot be read, is too long, nests too deeply, or is not
    JSON, which has no NaN and gives no field twice.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    if len(content) > most:
        raise ValueError(f"{path} has more than {most} bytes")
    try:
        data = json.loads(content.decode(), parse_constant=_constant, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    return data if isinstance(data, dict) else None


class Replayed(NamedTuple):
    """A stored counterexample, evaluated again: in words, both sides ``before`` and ``now``, and what the claim says.

    ``same``: whether the sides are those stored; ``fails``: whether they contradict the claim.
    """

    id: str
    where: str
    gist: str
    text: str
    relation: str
    before: tuple[Any, Any]
    now: tuple[Any, Any]
    same: bool
    fails: bool


def replay(path: Path) -> Replayed:
    """Evaluate the counterexample in a file again, with limits on time and memory. ``ValueError`` as for :func:`load`,
    and when the file does not describe an instance of its claim."""
    return limits.limited(lambda: _replayed(load(path), str(path)), limits.SECONDS, limits.BYTES, str(path))


def replay_entry(entry: Mapping[str, Any]) -> Replayed:
    """As :func:`replay`, for the counterexample in a claim's entry in an audit's JSON."""
    example = from_json(entry["counterexample"])
    name = f"what is carried of {entry['id']}"
    return limits.limited(lambda: _replayed(example, name), limits.SECONDS, limits.BYTES, name)


def _replayed(example: Counterexample, name: str) -> Replayed:
    """``name``: of where the counterexample is from."""
    from verify.methods.refutation import violated

    claim, relation, before = example.claim, example.relation, (example.left, example.right)
    try:
        now = example.replay()
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError) as error:
        raise ValueError(f"{name} does not hold an instance of {claim.id}: {error!r}") from error
    same = all(_agree(a, b) for a, b in zip(now, before, strict=True))
    fails = violated(*now, relation)
    return Replayed(claim.id, claim.where, claim.gist, example.text, relation, before, now, same, fails)


def _agree(computed: Any, before: Any) -> bool:
    """Whether a side is what was stored: exactly for fractions, to the digits that are kept for other numbers."""
    if not (_is_number(computed) and _is_number(before)):
        return not _is_number(computed) and not _is_number(before) and str(float(computed)) == str(float(before))
    a, b = (fraction(number(v)) for v in (computed, before))
    if isinstance(computed, int | Fraction) and a == computed:
        return a == b
    return abs(a - b) <= Fraction(1, 10 ** (9 if isinstance(computed, float) else 25)) * max(abs(a), abs(b))


def _is_number(side: Any) -> bool:
    """Whether a side is neither infinite nor NaN."""
    return isinstance(side, int | Fraction) or bool(mpmath.isfinite(side))


def carried(data: Mapping[str, Any]) -> Counterexample:
    """As :func:`from_json`, of results that this package carries: nothing is checked, nor loaded that computes."""
    left, right = real(data["left"]), real(data["right"])
    point = tuple(fraction(value) for value in data["point"])
    place = data["rounds"], data["part"], data["entry"]
    return Counterexample(
        claims.get(data["claim"]), recipe(data["recipe"]), point, *place, left, right, data["relation"], data["text"]
    )


def from_json(data: Mapping[str, Any]) -> Counterexample:
    """The counterexample stored by :func:`to_json`. ``ValueError`` names a field that is not right."""
    whole(data, FIELDS, "counterexample")
    claim = changed_claim(data)
    part = read_field(data, "part", words)
    expected = read_field(data, "part", lambda value: relation(claim, value))
    if data["relation"] != expected:
        raise ValueError(
            f"relation: {claim.id} says {expected!r} there, an unknown relation {quoted(data['relation'])} was got"
        )
    return Counterexample(
        claim,
        read_field(data, "recipe", recipe),
        read_field(data, "point", _point),
        read_field(data, "rounds", lambda value: _round(claim, part, value)),
        part,
        read_field(data, "entry", lambda value: _integer(value, 0, ENTRIES)),
        read_field(data, "left", real),
        read_field(data, "right", real),
        expected,
        read_field(data, "text", words),
    )


def whole(data: Mapping[str, Any], fields: Sequence[str], what: str) -> None:
    """``ValueError`` unless an object has these fields and no others."""
    missing = [name for name in fields if name not in data]
    unknown = [name for name in data if name not in fields]
    if missing or unknown:
        found = f"{', '.join(missing)} missing" if missing else f"unknown field {quoted(unknown[0])}"
        raise ValueError(f"this is not a stored {what}: {found}")


def read_field(data: Mapping[str, Any], name: str, reader: Callable[[Any], T]) -> T:
    """What a reader makes of a field; its ``ValueError`` names the field."""
    try:
        return reader(data[name])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def changed_claim(data: Mapping[str, Any]) -> Claim:
    """The claim that the fields "claim" and "changes" speak of."""
    original = read_field(data, "claim", lambda value: claims.get(words(value, NAME).rstrip("*")))
    claim = read_field(data, "changes", lambda value: _changed(original, value))
    if data["claim"] != claim.id:
        raise ValueError(f"claim: {claim.id!r} was expected with these changes, got {quoted(data['claim'])}")
    return claim


def relation(claim: Claim, part: str) -> str:
    """What the claim says of the two sides of one of its parts; ``ValueError`` when it has no such part."""
    from verify.methods import determinants, number_types, sampled

    statement = claim.statement
    if isinstance(statement, Order):
        known = {f"order {index}": "<=" for index in range(len(statement.parts))}
    elif isinstance(statement, CompressorClass):
        known = _COMPRESSOR
    elif isinstance(statement, Invariant):
        known = {"residual": "=="}
    elif isinstance(statement, Limit):
        known = {"fixed point": "==", determinants.PART: "<"}
    elif isinstance(statement, Untested | Fails | Experiment):
        known = {}
    else:
        known = {str(index): comparison.relation for index, comparison in enumerate(statement.comparisons)}
        known["domain"] = "=="
    if part in known:
        return known[part]
    if part.startswith(sampled.PREFIX) and not isinstance(statement, Order | Untested):
        # Of what is sampled only a variance is bounded from one side.
        return "<=" if part.startswith(f"{sampled.PREFIX}variance") else "=="
    if part.startswith((number_types.FLOATS, number_types.AGAIN)) and number_types.applies(claim):
        return "=="
    raise ValueError(f"the claim {claim.id} has no comparison called {quoted(part)}")


def _rounds(claim: Claim, part: str) -> tuple[int, ...]:
    """The numbers of rounds that a counterexample can have there."""
    from verify.methods import sampled, second_moments, states

    if isinstance(claim.statement, Order) or part.startswith(sampled.PREFIX):
        return (0,)
    return (*states.ROUNDS, *second_moments.LONG) if isinstance(claim.statement, Bound) else (1,)


def _round(claim: Claim, part: str, value: Any) -> int:
    from verify.methods import sampled, second_moments

    later = isinstance(claim.statement, Bound) and not part.startswith(sampled.PREFIX)
    if later and isinstance(value, int) and second_moments.is_long(value):
        return value
    return _one_of(value, _rounds(claim, part))


def _changed(claim: Claim, changes: Any) -> Claim:
    if not isinstance(changes, dict) or not all(text is None or isinstance(text, str) for text in changes.values()):
        raise ValueError(f"texts by name were expected, got {quoted(changes)}")
    lost = [name for name, text in changes.items() if text is None]
    if lost:
        named = ", ".join(words(name, NAME) for name in lost)
        raise ValueError(f"{claim.id} was changed in {named}, which a file cannot hold: replay it in Python")
    alien = [name for name in changes if name not in STORABLE]
    if alien:
        raise ValueError(f"one of {', '.join(STORABLE)} was expected, got {quoted(alien[0])}")
    if not changes:
        return claim
    symbols = {str(s): s for s in _symbols(claim)}
    return claim.variant(**{name: expression(text, symbols) for name, text in changes.items()})


def _symbols(claim: Claim) -> set[sympy.Symbol]:
    found: set[sympy.Symbol] = set()
    for name in (*STORABLE, "d", "k"):
        part = getattr(claim.statement, name, None)
        if isinstance(part, sympy.Basic):
            found |= part.free_symbols
    return found


def encode(value: Any) -> Any:
    """A recipe as JSON; :func:`recipe` gives it back."""
    if isinstance(value, Mapping):
        return {key: encode(v) for key, v in value.items()}
    if isinstance(value, tuple):
        return [encode(v) for v in value]
    return value if isinstance(value, int | str) else {"ratio": written(value)}


def recipe(value: Any) -> Recipe:
    """The recipe that :func:`encode` wrote."""
    if not isinstance(value, dict):
        raise ValueError(f"values by name were expected, got {quoted(value)}")
    left = [VALUES]
    found: Recipe = _decode(value, 0, left)
    return found


def _decode(value: Any, depth: int, left: list[int]) -> Any:
    """What a recipe holds at some depth; ``left``: how many more values it may hold."""
    left[0] -= 1
    if left[0] < 0 or depth > NESTED:
        raise ValueError(f"at most {VALUES} values, nested at most {NESTED} deep, were expected")
    if isinstance(value, dict):
        if set(value) == {"ratio"}:
            return fraction(value["ratio"])
        strange = next((key for key in value if not _WORD.fullmatch(key)), None)
        if strange is not None:
            raise ValueError(f"a letter or a word was expected as a name, got {quoted(strange)}")
        return {key: _decode(v, depth + 1, left) for key, v in value.items()}
    if isinstance(value, list):
        return tuple(_decode(v, depth + 1, left) for v in value)
    if isinstance(value, str):
        if not _WORD.fullmatch(value):
            raise ValueError(f"a word was expected, got {quoted(value)}")
        return value
    return _integer(value, -INTEGER, INTEGER)


def _point(value: Any) -> tuple[Fraction, ...]:
    if not isinstance(value, list) or len(value) > COORDINATES:
        raise ValueError(f"a list of at most {COORDINATES} numbers was expected, got {quoted(value)}")
    return tuple(fraction(v) for v in value)


def _integer(value: Any, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"an integer from {least} to {most} was expected, got {quoted(value)}")
    return value


def _one_of(value: Any, known: tuple[int, ...]) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value not in known:
        raise ValueError(f"{' or '.join(map(str, known))} was expected, got {quoted(value)}")
    return value


def words(value: Any, most: int = WORDS) -> str:
    """A text of at most so many characters."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"a text of at most {most} characters was expected, got {quoted(value)}")
    return value


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {quoted(twice)} is given twice")
    return found
