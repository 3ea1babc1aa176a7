"""Numbers of proofs at points: shorter, and still a proof."""

from fractions import Fraction

import pytest

from verify import checker
from verify.export.shorter import shortened

EMPTY = {"format": checker.FORMAT, "letters": {}, "domain": {}, "nonzero": []}
#: A little more than a third.
LONG = Fraction(10**40 + 1, 3 * 10**40)


def _proved(program):
    checker.Identity({**EMPTY, "programs": [program]})
    return program


def _sum(*terms):
    """Of squares of vectors, by pairs of names."""
    out = {}
    for weight, vector in terms:
        for a, x in vector.items():
            for b, y in vector.items():
                out[min(a, b), max(a, b)] = out.get((min(a, b), max(a, b)), Fraction(0)) + weight * x * y
    return {pair: c for pair, c in out.items() if c}


def _squares(form):
    """By elimination, as an object has them."""
    found = []
    for a in sorted({name for pair in form for name in pair}):
        if pivot := form.get((a, a), 0):
            vector = {b: c / pivot / (1 if a == b else 2) for (first, b), c in form.items() if first == a}
            found.append({"weight": str(pivot), "vector": {b: str(c) for b, c in vector.items()}})
            form = _sum_of(form, _sum((-pivot, vector)))
    return found


def _sum_of(*forms):
    out = {}
    for form in forms:
        for key, c in form.items():
            out[key] = out.get(key, Fraction(0)) + c
    return {key: c for key, c in out.items() if c}


def _written(form, **values):
    return {"|".join(pair): str(c) for pair, c in form.items()} | values


def _program(vectors):
    """One whose multipliers and squares are long: a third would do where a little more is given; values determine the
    other multiplier."""
    gap = _sum(
        *((1, v) for v in vectors), *((Fraction(1, 97 + k), {**u, **v}) for k, u in enumerate(vectors) for v in vectors)
    )
    more, other = _sum(*((1, v) for v in vectors)), _sum((1, vectors[0]))
    target = _sum_of(
        {k: c / 3 for k, c in more.items()}, {k: c / 2 for k, c in other.items()}, {k: -c for k, c in gap.items()}
    )
    left = _sum_of(gap, {k: (LONG - Fraction(1, 3)) * c for k, c in more.items()})
    return {
        "claimed": "it is at most 0",
        "target": _written(target, f="1", **{"1|1": "-2"}),
        "known": [
            {"words": "so they say", "form": _written(more), "weight": str(LONG)},
            {"words": "so they say", "form": _written(other, f="2"), "weight": "1/2"},
        ],
        "squares": [*_squares(left), {"weight": "2", "vector": {"1": "1"}}],
    }


@pytest.mark.parametrize("last", [{"e": 1}, {"e": 1, "z": -1}, {"e": 1, "y": Fraction(2, 3), "z": -1}])
def test_what_is_long_is_rounded_and_still_proves(last):
    """The sum of the last two vectors, say, may be seen by no square: none of those that are found sees it."""
    given = _proved(_program([{"a": 1}, {"b": 1}, {"c": 1, "a": 2}, {"d": 1}, last]))
    found = _proved(shortened(given))
    assert found["target"] == given["target"]
    assert [item["form"] for item in found["known"]] == [item["form"] for item in given["known"]]
    assert [item["weight"] for item in found["known"]][1] == "1/2"
    longest = [max(len(c) for item in of["squares"] for c in item["vector"].values()) for of in (given, found)]
    assert longest[0] > 80 and longest[1] < 30
    for item in found["squares"]:
        scale = Fraction(item["vector"].get("e", 0))
        assert all(Fraction(item["vector"].get(row, 0)) == scale * c for row, c in last.items())


def test_short_numbers_stay():
    given = _program([{"a": Fraction(1)}])
    given["known"][0]["weight"], given["squares"] = "1/3", []
    assert shortened(given) is given
