"""Objects that were written anew to show what is false, with a digest that is right: the checker takes none."""

import copy
import hashlib
import json

import pytest

from verify import checker
from verify.export import objects

#: a <= b, x > 0: of the letters (x, a, b), that b - a >= 0 is the weight of a square; and what all clients share.
ONE, GAP, X = [["1", [0, 0, 0]]], [["1", [0, 0, 1]], ["-1", [0, 1, 0]]], [["1", [1, 0, 0]]]
BY = {
    "constant": "1",
    "factors": [
        {"of": GAP, "power": 1, "sign": 1, "chart": [["b", "a <= b", ONE, GAP]]},
        {"of": X, "power": 1, "sign": 1, "chart": []},
    ],
}
BELOW = [["-1", [0, 0, 1]], ["1", [0, 1, 0]]]


def _known(form="1", **more):
    return {"name": "s", "words": "the s sum to at most 0", "form": {"s": form}, "weight": "1", **more}


def _program(**more):
    square = {"weight": {"num": GAP, "den": X}, "vector": {"u": "1"}, "by": BY}
    target = {"u|u": {"num": BELOW, "den": X}, "s": "1"}
    return {"claimed": "each client", "target": target, "known": [_known(shared=True)], "squares": [square], **more}


IDENTITY = {
    "format": checker.FORMAT,
    "kind": "identity",
    "claim": "mine",
    "says": ["said"],
    "at": {},
    "letters": {"x": "> 0", "a": ">= 0", "b": ">= 0"},
    "own": ["b"],
    "domain": {"a <= b": {"is": GAP, "sign": ">= 0"}},
    "point": {"x": "1", "a": "1", "b": "1"},
    "nonzero": [
        {"of": X, "by": {"constant": "1", "factors": [{"of": X, "power": 1, "sign": 1, "chart": []}]}},
    ],
    "programs": [_program(), _program(claimed="the others")],
}
ARITHMETIC = {
    "format": checker.FORMAT,
    "kind": "arithmetic",
    "claim": "mine",
    "says": ["said"],
    "at": {"x": "1/10"},
    "steps": [
        ["10", "10"],
        ["1", "1"],
        ["x", "1/10"],
        ["left", "*", "10", "x"],
        ["as it is", "==", "left", "1"],
    ],
}


def _bent(whole, path, value):
    """The object with something else at a place; with what a function makes of it where one is given."""
    data = copy.deepcopy(whole)
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value(at[path[-1]]) if callable(value) else value
    return data


def _text(data):
    whole = json.dumps({**data, "digest": ""}, sort_keys=True).encode()
    return json.dumps({**data, "digest": hashlib.sha256(whole).hexdigest()})


P, S, K = ("programs", 0), ("programs", 0, "squares", 0), ("programs", 0, "known", 0)
FACTOR = (*S, "by", "factors", 0)
STEP = (*FACTOR, "chart", 0)
#: Where an identity is bent, and to what.
IDENTITIES = {
    # Structure.
    "no programs": (("programs",), []),
    "programs by name": (("programs",), lambda of: dict(enumerate(of))),
    "the same under two names": ((*K, "name"), "t"),
    "a weight of one sort of clients": ((*K, "weight"), "2"),
    "a weight that is written otherwise": ((*K, "weight"), "1/1"),
    "shared by a number": ((*K, "shared"), 1),
    "shared by a word": ((*K, "shared"), "true"),
    "not shared after all": ((*K, "shared"), False),
    "no words": ((*K, "words"), ""),
    "blank words": ((*K, "words"), "  "),
    "words that are a list": ((*K, "words"), ["the s"]),
    "words that are a number": ((*K, "words"), 1),
    "nothing claimed": ((*P, "claimed"), " "),
    "a claim that is no text": ((*P, "claimed"), True),
    "a field that is not checked": (("note",), "so it is"),
    "another kind": (("kind",), "Identity"),
    "kinds in a list": (("kind",), ["identity"]),
    "steps as well": (("steps",), []),
    # Letters and domain.
    "an unknown letter in a chart": ((*STEP, 0), "c"),
    "a letter that is an own one in a shared weight": ((*K, "weight"), {"num": [["1", [0, 0, 1]]], "den": ONE}),
    "an own letter that is none": (("own",), ["c"]),
    "a letter of any sign": (("letters", "x"), "any"),
    "a letter without a sign": (("letters", "x"), None),
    "a letter that may be 0": (("letters", "x"), ">= 0"),
    "a strict sign by another": (("domain", "a <= b", "sign"), "≥ 0"),
    "a domain that is left out": (("domain",), {}),
    "a domain that says less": (("domain", "a <= b", "is"), [["2", [0, 0, 1]], ["-1", [0, 1, 0]]]),
    "a domain that says the opposite": (("domain", "a <= b", "is"), BELOW),
    # The point.
    "no point": (("point",), {}),
    "a point that is none": (("point",), None),
    "a point in a list": (("point",), ["1", "1/2", "1"]),
    "a point without a letter": (("point",), {"x": "1", "a": "1/2"}),
    "a point with a letter more": (("point",), {"x": "1", "a": "1/2", "b": "1", "c": "1"}),
    "a point of another letter": (("point",), {"x": "1", "a": "1/2", "c": "1"}),
    "a point outside": (("point", "a"), "2"),
    "a point just outside": (("point", "a"), f"1{'0' * 400}1/1{'0' * 401}"),
    "a point where a positive letter is 0": (("point", "x"), "0"),
    "a point where a positive letter is negative": (("point", "x"), "-1"),
    "a point where a letter is negative": (("point", "a"), "-1"),
    "a point of a float": (("point", "x"), 1.0),
    "a point of an integer": (("point", "x"), 1),
    "a point that is no number": (("point", "x"), "nan"),
    "a point that is true": (("point", "x"), True),
    "a point at infinity": (("point", "x"), "1/0"),
    "a point at the boundary of what is strict": (("domain", "a <= b"), {"is": GAP, "sign": "> 0"}),
    "a domain that is empty": (("domain", "none"), {"is": [["-1", [0, 0, 0]]], "sign": ">= 0"}),
    "a domain in which 0 is positive": (("domain", "none"), {"is": [], "sign": "> 0"}),
    # Charts.
    "a chart that solves nothing": ((*FACTOR, "chart"), []),
    "a chart that uses a bound twice": ((*FACTOR, "chart"), lambda of: of + of),
    "a chart that is multiplied by what may be 0": ((*STEP, 2), [["1", [0, 1, 0]]]),
    "a chart by a negative multiple": ((*STEP, slice(2, 4)), lambda _: [[["-1", [0, 0, 0]]], BELOW]),
    "a chart of another bound": ((*STEP, 1), "b <= a"),
    "a letter that is not bounded so": ((*STEP, 0), "a"),
    "a negative multiple is taken off": ((*FACTOR, "chart"), [[[["-1", [0, 0, 0]]], "a <= b", ONE, GAP]]),
    "nothing is taken off": ((*FACTOR, "chart"), [[[], "a <= b", ONE, GAP]]),
    "off a multiple that may be 0": ((*FACTOR, "chart"), [[ONE, "a <= b", ONE, GAP, [["1", [0, 1, 0]]]]]),
    "off a negative multiple": ((*FACTOR, "chart"), [[ONE, "a <= b", ONE, GAP, [["-1", [0, 0, 0]]]]]),
    # Signs.
    "a sign that is true": ((*FACTOR, "sign"), True),
    "a sign that is a float": ((*FACTOR, "sign"), 1.0),
    "the other sign": ((*FACTOR, "sign"), -1),
    "a power that is true": ((*FACTOR, "power"), True),
    "a power that is a float": ((*FACTOR, "power"), 1.0),
    "a power of 0": ((*FACTOR, "power"), 0),
    "a power beyond all": ((*FACTOR, "power"), 10**9),
    "an even power": ((*FACTOR, "power"), 2),
    "a constant of 0": ((*S, "by", "constant"), "0"),
    "a negative constant": ((*S, "by", "constant"), "-1"),
    "no factors": ((*S, "by", "factors"), []),
    "no certificate": ((*S, "by"), None),
    "a denominator of which nothing is told": (("nonzero",), []),
    "a denominator that is 0": (("nonzero", 0, "of"), []),
    "a denominator that is shown twice, once wrongly": (
        ("nonzero",),
        lambda of: [*of, {"of": X, "by": {"constant": "1", "factors": [*of[0]["by"]["factors"]] * 2}}],
    ),
    "a denominator of another factor": (("nonzero", 0, "by", "factors", 0, "of"), [["1", [1, 0, 0]], ["1", [0, 0, 0]]]),
    "a denominator of another power": (("nonzero", 0, "by", "factors", 0, "power"), 2),
    "a denominator of another constant": (("nonzero", 0, "by", "constant"), "2"),
    "a denominator of constant 0": (("nonzero", 0, "by", "constant"), "0"),
    "a denominator that is 0 with terms": (
        ("nonzero",),
        lambda of: [*of, {"of": [["1", [1, 0, 0]], ["-1", [1, 0, 0]]], "by": {"constant": "0", "factors": []}}],
    ),
    "a denominator that may be 0": (("nonzero", 0, "by", "factors"), []),
    # Numbers.
    "a float": ((*K, "form", "s"), 1.0),
    "an integer": ((*K, "form", "s"), 1),
    "a truth": ((*K, "form", "s"), True),
    "not a number": ((*K, "form", "s"), "nan"),
    "without end": ((*K, "form", "s"), "inf"),
    "digits of another script": ((*K, "form", "s"), "١"),
    "digits in superscript": ((*K, "form", "s"), "¹"),
    "digits apart": ((*K, "form", "s"), "1_0"),
    "with blanks": ((*K, "form", "s"), " 1 "),
    "by a power of ten": ((*K, "form", "s"), "1e999999999"),
    "as a decimal": ((*K, "form", "s"), "1.0"),
    "divided by 0": ((*K, "form", "s"), "1/0"),
    "digits that are too many": ((*K, "form", "s"), "1" + "0" * 5000),
    "an exponent that is true": ((*S, "weight", "num"), [["1", [0, 0, True]], ["-1", [0, 1, 0]]]),
    "an exponent that is negative": ((*S, "weight", "num"), [["1", [0, 0, -1]], ["-1", [0, 1, 0]]]),
    "an exponent beyond all": ((*S, "weight", "num"), [["1", [0, 0, 10**9]], ["-1", [0, 1, 0]]]),
    "an exponent too few": ((*S, "weight", "num"), [["1", [0, 0]], ["-1", [0, 1]]]),
    # What is read.
    "a line that is told as checked": (("claim",), "mine\nother.json: holds: yours"),
    "a line that is written over": (("claim",), "mine\u001b[1A\u001b[2K"),
    "a name that looks like another": ((*P, "target"), lambda of: {**of, "ѕ": "1"}),
    "words from right to left": ((*K, "words"), "\u202eeslaf"),
}
#: Where a calculation is bent, and to what. A float of 0.1 is not 1/10.
CALCULATIONS = {
    "a float": {"at": {"x": 0.1}, "steps": [["x", 0.1], ["1/10", "1/10"], ["c", "!=", "x", "1/10"]]},
    "a decimal": {"at": {"x": "0.1"}, "steps": [["10", "10"], ["x", "0.1"], ["c", "!=", "x", "10"]]},
    "a truth": {"at": {"x": True}, "steps": [["x", True], ["1", "1"], ["c", "==", "x", "1"]]},
    "a number in another script": {"at": {}, "steps": [["١", "١"], ["2", "2"], ["c", "<", "١", "2"]]},
    "a comparison as a number": {"at": {}, "steps": [["1", "1"], ["c", "==", "1", "1"], ["d", "==", "c", "c"]]},
    "a name that is made twice": {"at": {}, "steps": [["1", "1"], ["t", "+", "1", "1"], ["t", "-", "1", "1"]]},
    "what comes later": {"at": {}, "steps": [["c", "==", "1", "1"], ["1", "1"]]},
    "nothing at the end": {"at": {}, "steps": [["1", "1"], ["c", "==", "1", "1"], ["2", "2"]]},
    "no steps": {"at": {}, "steps": []},
    "a number that is not told": {"at": {}, "steps": [["x", "1"], ["c", "==", "x", "x"]]},
    "a number that is called another": {"at": {}, "steps": [["2", "3"], ["c", "==", "2", "2"]]},
    "another operation": {"at": {}, "steps": [["2", "2"], ["t", "**", "2", "2"], ["c", "==", "t", "t"]]},
    "three operands": {"at": {}, "steps": [["2", "2"], ["t", "+", "2", "2", "2"], ["c", "==", "t", "t"]]},
    "a division by 0": {"at": {}, "steps": [["0", "0"], ["t", "/", "0", "0"], ["c", "==", "t", "t"]]},
}  # fmt: skip


def test_they_hold_before():
    assert checker.check(_text(IDENTITY)) and checker.check(_text(ARITHMETIC))


@pytest.mark.parametrize("name", IDENTITIES)
def test_no_identity_that_was_bent_holds(name):
    path, value = IDENTITIES[name]
    if isinstance(path[-1], slice):
        data = copy.deepcopy(IDENTITY)
        step = data
        for key in path[:-1]:
            step = step[key]
        step[path[-1]] = value(step[path[-1]])
    elif path[-1] in ("note", "steps"):
        data = {**IDENTITY, path[-1]: value}
    else:
        data = _bent(IDENTITY, path, value)
    with pytest.raises(ValueError):
        checker.check(_text(data))


@pytest.mark.parametrize("name", CALCULATIONS)
def test_no_calculation_that_was_bent_holds(name):
    with pytest.raises(ValueError):
        checker.check(_text({**ARITHMETIC, **CALCULATIONS[name]}))


@pytest.mark.parametrize("key", ["claimed", "target", "known", "squares"])
def test_a_program_without_a_part_holds_nothing(key):
    data = copy.deepcopy(IDENTITY)
    del data["programs"][1][key]
    with pytest.raises(ValueError):
        checker.check(_text(data))


@pytest.mark.parametrize("sign", [">= 0", "> 0"])
@pytest.mark.parametrize("point", ["0", "1", "2", "-1", "1/2"])
def test_nothing_is_shown_of_an_empty_domain(sign, point):
    """1 - x >= 0 and x - 2 >= 0 of an x > 0 would show that 1 <= 0: x = 1 - t and then t + 1 <= 0."""
    one, less, more = [["1", [0]]], [["1", [0]], ["-1", [1]]], [["1", [1]], ["-2", [0]]]
    wrong = {
        "of": [["-1", [0]]],
        "power": 1,
        "sign": 1,
        "chart": [[one, "above", one, more], [one, "below", one, less]],
    }
    program = {
        "claimed": "1 <= 0",
        "target": {"1|1": "1"},
        "known": [],
        "squares": [{"weight": "-1", "vector": {"1": "1"}, "by": {"constant": "1", "factors": [wrong]}}],
    }
    domain = {"below": {"is": less, "sign": sign}, "above": {"is": more, "sign": sign}}
    data = {**IDENTITY, "letters": {"x": "> 0"}, "own": [], "domain": domain, "nonzero": [], "programs": [program]}
    with pytest.raises(ValueError, match="point"):
        checker.check(_text({**data, "point": {"x": point}}))


def test_letters_of_other_scripts_are_written_in_plain_ones():
    data = {**ARITHMETIC, "claim": "\u03b3 < 1\n\\gamma", "says": ["\u0141"], "at": {"\u03b3": "1/10"}}
    data["steps"] = [["1", "1"], ["\u03b3", "1/10"], ["so", "<", "\u03b3", "1"]]
    found = checker.check(json.dumps(objects.sealed(data)))
    with pytest.raises(ValueError, match="another"):
        objects.sealed({**data, "says": ["u03b3"]})
    assert found["claim"] == "u03b3 < 1u000au005cgamma" and found["at"] == {"u03b3": "1/10"}


def test_no_nesting_is_too_deep():
    for text in ("[" * 100_000, '{"a":' * 100_000, _text(IDENTITY).replace('"said"', "[" * 100_000 + "]" * 100_000)):
        with pytest.raises(ValueError):
            checker.check(text)


def test_no_name_is_given_twice():
    for old in ('"claimed": "each client"', '"weight": "1"', '"sign": ">= 0"', '"x": "> 0"'):
        with pytest.raises(ValueError, match="twice"):
            checker.check(_text(IDENTITY).replace(old, f"{old}, {old}", 1))
