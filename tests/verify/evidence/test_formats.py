"""The formats of files: schemas that mean here what they mean to others, and files that name theirs."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hostile import drawn, rebuilt
from hypothesis import given
from hypothesis import strategies as st
from referencing import Registry

from verify import results
from verify.evidence import formats

KINDS = sorted(path.stem for path in formats.SCHEMAS.glob("*.json"))
SHIPPED = results.shipped().entries
#: An entry for each verdict, and one with certificates.
ENTRIES = [*{entry["verdict"]: entry for entry in SHIPPED.values()}.values(), SHIPPED["feddcd/projection/repaired"]]
STORED: dict[str, list[Any]] = {
    "audit": [formats.audit(ENTRIES, 3, "full"), formats.audit([], 0, "quick", ["a/b"])],
    "certificate": [c for entry in ENTRIES for each in entry["outcomes"] for c in each["certificates"]],
    "counterexample": [entry["counterexample"] for entry in ENTRIES if entry["counterexample"]],
}
SCHEMAS = Registry().with_contents((formats.schema(kind)["$id"], formats.schema(kind)) for kind in KINDS)
#: What the library takes and we do not: nothing is an integer that has a point, and no text ends with a line feed.
OURS = ("an integer", "nested too deeply", r"\n")


def others_take(kind: str, data: Any) -> bool:
    """Whether the library takes an object to be of a format."""
    return bool(jsonschema.Draft202012Validator(formats.schema(kind), registry=SCHEMAS).is_valid(data))


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one_and_names_its_format(kind):
    found = formats.schema(kind)
    jsonschema.Draft202012Validator.check_schema(found)
    version = 3 if kind == "proof" else 1
    assert found["$id"] == f"fedtheory-{kind}-{version}" and found["properties"]["format"] == {"const": found["$id"]}
    assert formats.named(kind, {}) == {"format": found["$id"]}


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "string", "format": "date"},
        {"type": "string", "pattern": "[0-9]"},
        {"$ref": "#/$defs/rule", "type": "string"},
        {"anyOf": [{"type": "null"}], "minimum": 1},
        {"description": "anything"},
        {"type": "array", "items": {"type": "array", "uniqueItems": True}},
        {"type": "object", "additionalProperties": {"oneOf": []}},
    ],
    ids=lambda rule: str(rule)[:40],
)
def test_a_schema_that_says_more_than_is_read_is_refused(rule, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "SCHEMAS", tmp_path)
    (tmp_path / "own.json").write_text(
        json.dumps({"$id": "fedtheory-own-1", "type": "object", "$defs": {"rule": rule}})
    )
    with pytest.raises(NotImplementedError, match=r"of a schema|part of a text|has no type"):
        formats.schema.__wrapped__("own")


@pytest.mark.parametrize("kind", STORED)
def test_what_is_written_names_its_format_and_is_of_it(kind):
    for data in STORED[kind]:
        written = json.loads(formats.text(kind, data))
        assert next(iter(written)) == "format" and formats.checked(kind, written) == written
        assert others_take(kind, written)
        with pytest.raises(ValueError, match=f"format: 'fedtheory-{kind}-1' was expected, got 'fedtheory-{kind}-2'"):
            formats.checked(kind, written | {"format": f"fedtheory-{kind}-2"})


def test_what_is_carried_is_of_its_format():
    assert formats.checked("audit", json.loads(results.FILE.read_bytes()))


@given(st.data())
@drawn()
def test_others_read_the_schemas_as_we_do(data):
    kind = data.draw(st.sampled_from(sorted(STORED)))
    found = data.draw(rebuilt(data.draw(st.sampled_from(STORED[kind]))))
    try:
        formats.checked(kind, found)
    except ValueError as error:
        assert not others_take(kind, found) or any(word in str(error) for word in OURS)
    else:
        assert others_take(kind, found)
