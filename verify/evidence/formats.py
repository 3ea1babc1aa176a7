"""The files of evidence: written as JSON that names its format, and read without trust, by the schema of the format.

A schema of ``schema/``, of JSON Schema's draft 2020-12, lists all that a file may hold; its ``$id`` is the name of the
format, with its version, and stands in every file that is written. Those that carry none are of version 1.

Of JSON Schema this reads what these schemas say, and refuses a schema that says more. The library ``jsonschema``, with
which the tests compare it, takes six times as long for an audit, a compiled package and a tenth of a second to load,
holds 1.0 to be an integer, and lets a text end with a line feed that its pattern does not have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from verify.base.plain import clean, quoted

T = TypeVar("T")

#: The folder of the schemas.
SCHEMAS = Path(__file__).with_name("schema")
#: Bytes of a file; of one with an audit.
FILE, AUDIT = 4_000_000, 200_000_000
#: The largest depth of a file.
_NESTED = 30
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
#: What a schema says of itself, what it may say of a value, and what stands in place of all that.
_HEAD = ("$schema", "$id", "title", "$defs")
_KEYWORDS = frozenset(("type", "const", "enum", "description", "minimum", "maximum"))
_KEYWORDS |= {"pattern", "minLength", "maxLength", "items", "minItems", "maxItems"}
_KEYWORDS |= {"properties", "required", "propertyNames", "maxProperties", "additionalProperties"}
_ALONE = ({"$ref"}, {"anyOf", "description"})
#: Names that stand in a message as they are.
_PLAIN = re.compile(r"\w{1,40}", re.ASCII)


@cache
def schema(kind: str) -> Mapping[str, Any]:
    """The schema of a format, by the name of its file."""
    found: Mapping[str, Any] = json.loads((SCHEMAS / f"{kind}.json").read_bytes())
    for rule in ({name: part for name, part in found.items() if name not in _HEAD}, *found.get("$defs", {}).values()):
        _understood(rule)
    return found


def _understood(rule: Mapping[str, Any]) -> None:
    """``NotImplementedError`` for a rule of a schema that says what is not read here."""
    known = next((names for names in _ALONE if names & rule.keys() - {"description"}), _KEYWORDS)
    alien = sorted(rule.keys() - known)
    if alien or not rule.keys() & {"type", "const", "enum", "$ref", "anyOf"}:
        raise NotImplementedError(f"{alien[0]!r} in a rule of a schema" if alien else "a rule of a schema has no type")
    # A pattern is compared with a whole text.
    if not re.fullmatch(r"\^.*\$", rule.get("pattern", "^$")):
        raise NotImplementedError(f"the pattern {rule['pattern']!r} of a part of a text")
    parts = [*rule.get("anyOf", ()), *rule.get("properties", {}).values()]
    parts += [rule[name] for name in ("items", "propertyNames", "additionalProperties") if name in rule]
    for part in parts:
        if not isinstance(part, bool):
            _understood(part)


def named(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The object with the name of its format in front."""
    return {"format": schema(kind)["$id"], **data}


def text(kind: str, data: Mapping[str, Any]) -> str:
    """Return the contents of a file that stores an object of this format."""
    return json.dumps(named(kind, data), indent=2) + "\n"


def read(path: Path, most: int = FILE) -> Any:
    """Return the contents of a JSON file of at most ``most`` bytes.

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
        return json.loads(content.decode(), parse_constant=_constant, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error


def is_of(kind: str, path: Path) -> bool:
    """Return True if a file names this format, in any version."""
    try:
        data = read(path)
    except ValueError:
        return False
    name = data.get("format") if isinstance(data, dict) else None
    return isinstance(name, str) and name.startswith(f"fedtheory-{kind}-")


def load(path: Path, reader: Callable[[Any], T], most: int = FILE) -> T:
    """Apply a reader to the object in a JSON file. A ``ValueError`` of the reader is raised again with the
    file's name.
    """
    data = read(path, most)
    try:
        return reader(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def checked(kind: str, data: Any) -> Any:
    """The object, if it is of a format; else ``ValueError`` says what is wrong."""
    home = schema(kind)
    if not isinstance(data, dict):
        raise ValueError(f"this is not a stored {kind}: an object was expected, got {quoted(data)}")
    _check(data, home, home, "", 0)
    return data


def audit(entries: Sequence[dict[str, Any]], seed: int, budget: str, missing: Sequence[str] = ()) -> dict[str, Any]:
    """The audit as one JSON object, from its entries; one that lacks claims says so, and which, by their ids."""
    partial = {"partial": True, "missing": list(missing)} if missing else {}
    head = {"version": version("fedtheory"), "seed": seed, "budget": budget, **partial}
    return named("audit", {**head, "claims": list(entries)})


def read_audit(path: Path) -> dict[str, Any]:
    """The audit in a file. ``ValueError`` of one sentence, with the file, when there is none."""
    return load(path, checked_audit, AUDIT)


def checked_audit(data: Any) -> dict[str, Any]:
    """The object that :func:`audit` made, with no character in its texts that acts on a screen.

    ``ValueError`` names what is not right.
    """
    found: dict[str, Any] = _cleaned(checked("audit", data))
    seen: set[str] = set()
    for entry in found["claims"]:
        if entry["id"] in seen:
            raise ValueError(f"the claim {quoted(entry['id'])} is there twice")
        seen.add(entry["id"])
    return found


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(name): _cleaned(part) for name, part in value.items()}
    return [_cleaned(part) for part in value] if isinstance(value, list) else value


def _check(value: Any, rule: Mapping[str, Any], home: Mapping[str, Any], where: str, depth: int) -> None:
    """Raise ``ValueError`` unless a value is as a rule of the schema ``home`` says; ``where``: what the value is
    called.
    """
    rule, home = _resolved(rule, home)
    if "anyOf" in rule:
        options = (_resolved(option, home) for option in rule["anyOf"])
        chosen = next((option for option in options if _admits(option[0], value)), None)
        if chosen is None:
            raise _bad(rule, value, where)
        _check(value, *chosen, where, depth)
        return
    if depth > _NESTED:
        raise ValueError("it is nested too deeply")
    if not _admits(rule, value):
        raise _bad(rule, value, where)
    if isinstance(value, str):
        if len(value) > rule.get("maxLength", len(value)):
            most = f"a text of at most {rule['maxLength']} characters"
            raise ValueError(f"{where}: {most} was expected, got {quoted(value)}")
        # To the very end: in Python $ is also what stands before a last line feed.
        if len(value) < rule.get("minLength", 0) or not re.fullmatch(rule.get("pattern", "^(?s:.*)$")[1:-1], value):
            raise _bad(rule, value, where)
    elif isinstance(value, list):
        least, most = rule.get("minItems", 0), rule.get("maxItems", len(value))
        if not least <= len(value) <= most:
            count = f"{most}" if least == most else f"at least {least}" if least else f"at most {most}"
            raise ValueError(f"{where}: a list of {count} was expected, got one of {len(value)}")
        for index, part in enumerate(value if "items" in rule else ()):
            _check(part, rule["items"], home, f"{where}[{index}]", depth + 1)
    elif isinstance(value, dict):
        _check_fields(value, rule, home, where, depth)
    elif isinstance(value, int | float) and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        raise _bad(rule, value, where)


def _check_fields(
    value: dict[str, Any], rule: Mapping[str, Any], home: Mapping[str, Any], where: str, depth: int
) -> None:
    known, others = rule.get("properties", {}), rule.get("additionalProperties", True)
    missing = [name for name in rule.get("required", ()) if name not in value]
    unknown = [name for name in value if name not in known] if others is False else []
    if missing or unknown:
        found = f"{', '.join(missing)} missing" if missing else f"unknown field {quoted(unknown[0])}"
        raise ValueError(f"{where or 'this is not a stored ' + home['$id'].split('-')[1]}: {found}")
    if len(value) > rule.get("maxProperties", len(value)):
        raise ValueError(f"{where}: at most {rule['maxProperties']} values by name were expected, got {len(value)}")
    for name, part in value.items():
        if "propertyNames" in rule:
            _check(name, rule["propertyNames"], home, where, depth)
        label = name if name in known or _PLAIN.fullmatch(name) else quoted(name)
        of_name = known.get(name, others)
        if of_name is not True:
            _check(part, of_name, home, f"{where}.{label}" if where else label, depth + 1)


def _resolved(rule: Mapping[str, Any], home: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """A rule, or that to which it refers, and the schema in which it stands."""
    while "$ref" in rule:
        format, _, name = rule["$ref"].partition("#/$defs/")
        home = schema(format.split("-")[1]) if format else home
        rule = home["$defs"][name] if name else home
    return rule, home


def _admits(rule: Mapping[str, Any], value: Any) -> bool:
    """Return True if a value has a type that a rule allows, or is one of the values that it lists."""
    if (listed := _listed(rule)) is not None:
        return any(value == one and type(value) is type(one) for one in listed)
    return any(
        isinstance(value, _TYPES[name]) and (name == "boolean") == isinstance(value, bool) for name in _typed(rule)
    )


def _listed(rule: Mapping[str, Any]) -> list[Any] | None:
    return [rule["const"]] if "const" in rule else rule.get("enum")


def _typed(rule: Mapping[str, Any]) -> list[str]:
    return rule["type"] if isinstance(rule["type"], list) else [rule["type"]]


def _bad(rule: Mapping[str, Any], value: Any, where: str) -> ValueError:
    if (expected := rule.get("description")) is None:
        listed = _listed(rule)
        expected = " or ".join([_WORDS[name] for name in _typed(rule)] if listed is None else map(repr, listed))
    return ValueError(f"{where}: {expected} was expected, got {quoted(value)}")


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {quoted(twice)} is given twice")
    return found
