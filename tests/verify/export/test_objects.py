"""Proof objects: the small checker accepts what is exported, and nothing that was bent, with nothing else at hand."""

import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import claims
from verify import checker, results
from verify.cli import main
from verify.evidence import formats
from verify.export import closed, for_all_letters, found, objects, read_code
from verify.multipliers.proving import prove

ROOT = Path(__file__).resolve().parents[3]
#: A claim that a few numbers break.
BROKEN = "feddcd/theorem-4.1/proof-constants"
#: A claim that is proved client by client, with what is known of all together, and an order of growth.
CLIENTS, GROWTH = "fedadmm/eq-59", "feddcd/table-1/feddcd"
#: A claim whose proof is an object for each of several cases.
CASES = "baseline/diana/one-step"
#: A claim whose sides are read off its code.
READ = "feddcd/lemma-B.3/eq-18"
#: 1, gamma mu, and what follows from gamma <= 1/L and mu <= L: that 1 - gamma mu >= 0.
ONE, MORE, LESS = ([["1", [0, 0, 0]], *rest] for rest in ([], [["1", [1, 0, 1]]], [["-1", [1, 0, 1]]]))
ABOVE = [["1", [0, 1, 0]], ["-1", [1, 0, 0]]]
BELOW = [["1", [0, 0, 0]], ["-1", [0, 1, 1]]]
CHART = [["gamma", "gamma <= 1/L", ONE, BELOW], ["L", "mu <= L", ONE, ABOVE]]
LETTERS = {
    "format": checker.FORMAT,
    "kind": "identity",
    "claim": "a weighted square",
    "says": [],
    "letters": {"mu": "> 0", "L": "> 0", "gamma": "> 0"},
    "domain": {"mu <= L": {"is": ABOVE, "sign": ">= 0"}, "gamma <= 1/L": {"is": BELOW, "sign": ">= 0"}},
    "point": {"mu": "1", "L": "2", "gamma": "1/2"},
    "nonzero": [
        {"of": MORE, "by": {"constant": "1", "factors": [{"of": MORE, "power": 1, "sign": 1, "chart": []}]}},
    ],
    "programs": [
        {
            # (1 - gamma mu)/(1 + gamma mu) (a - b)^2 >= 0.
            "claimed": "a weighted square",
            "target": {
                "a|a": {"num": [["-1", [0, 0, 0]], ["1", [1, 0, 1]]], "den": MORE},
                "a|b": {"num": [["2", [0, 0, 0]], ["-2", [1, 0, 1]]], "den": MORE},
                "b|b": {"num": [["-1", [0, 0, 0]], ["1", [1, 0, 1]]], "den": MORE},
            },
            "known": [],
            "squares": [
                {
                    "weight": {"num": LESS, "den": MORE},
                    "vector": {"a": "1", "b": "-1"},
                    "by": {
                        "constant": "1",
                        "factors": [
                            {"of": LESS, "power": 1, "sign": 1, "chart": CHART},
                            {"of": MORE, "power": 1, "sign": 1, "chart": []},
                        ],
                    },
                }
            ],
        }
    ],
}


def _text(data):
    return json.dumps(objects.sealed({k: v for k, v in data.items() if k != "digest"}))


@pytest.fixture(scope="module")
def exported():
    proofs, _ = found.of_claim(CASES)
    return proofs


def test_every_number_of_a_proof_is_in_its_object(exported):
    for data in exported:
        assert checker.check(json.dumps(data)) == data
        assert data["programs"]
        for program in data["programs"]:
            assert all(item["words"] != item["name"] for item in program["known"])
    assert checker.check(_text(LETTERS))


def test_the_checker_needs_nothing_but_the_standard_library(tmp_path, exported):
    lines = (ROOT / "verify" / "checker.py").read_text(encoding="utf-8").splitlines()
    assert {line.split()[1] for line in lines if line.startswith(("import ", "from "))} == {
        "collections.abc",
        "hashlib",
        "json",
        "math",
        "operator",
        "sys",
        "fractions",
        "typing",
    }
    (tmp_path / "checker.py").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "good.json").write_text(json.dumps(exported[0]), encoding="utf-8")
    (tmp_path / "bad.json").write_text(json.dumps({**exported[0], "claim": "another"}), encoding="utf-8")

    def run(*names):
        command = [sys.executable, "-I", "-S", "checker.py", *names]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    assert (good := run("good.json")).returncode == 0 and "holds" in good.stdout
    assert (bad := run("good.json", "bad.json")).returncode == 1 and "DOES NOT HOLD" in bad.stderr


def test_a_domain_is_printed_as_relations():
    assert checker.written([["1", [1, 1]], ["-1", [0, 0]], ["-3/2", [0, 2]]], ("mu", "L")) == "mu*L - 1 - 3/2*L^2"
    assert checker.written([["-1", [2]]], ("p",)) == "-p^2" and checker.written([], ("p",)) == "0"


def _places(data, at=()):
    """The places of all numbers and names in an object."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _places(value, (*at, key))
    elif isinstance(data, list):
        for key, value in enumerate(data):
            yield from _places(value, (*at, key))
    else:
        yield at


#: What a proof is made of.
_PROVING = {"programs", "nonzero", "letters", "domain", "own"}
#: What is said in words to people, and a point, which may be another: a checker cannot know whether it is so.
_WORDS = {"claim", "says", "at", "point", "words", "name", "claimed", "shared"}


def _bent(data, place, rng):
    """The object with another number, name or exponent at one place."""
    data = json.loads(json.dumps(data))
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    old = inner[place[-1]]
    if isinstance(old, int):
        inner[place[-1]] = old + rng.choice([-1, 1, 2])
    elif old in ("> 0", ">= 0"):
        inner[place[-1]] = "< 0"
    else:
        # The sign of a vector does not change its square, nor that of a factor of one term an even power of it.
        signed = [] if "vector" in place or _in_even_power(data, place) else [f"-{old}"]
        inner[place[-1]] = rng.choice([*signed, f"{old}1", f"1{old}", "x"]) if old != "0" else "1"
    return data


def _in_even_power(data, place):
    """Whether the place is in the only term of a factor of which an even power is taken."""
    if "factors" not in place:
        return False
    inner = data
    for key in place[: place.index("factors") + 2]:
        inner = inner[key]
    return place[-3] == "of" and len(inner["of"]) == 1 and inner["power"] % 2 == 0


def _renamed(data, place, rng):
    """The object with another name in place of a key: of a vector, a value, a letter, a field."""
    data = json.loads(json.dumps(data))
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1] + rng.choice(["'", "|c", " "])] = inner.pop(place[-1])
    return data


@pytest.fixture(scope="module")
def proofs(exported):
    added, *_ = for_all_letters.of_derived(claims.get("fedadmm/lemma-C.1/d"))
    return [LETTERS, exported[-1], *(found.all_of(id)[0] for id in (BROKEN, CLIENTS, READ)), added]


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("examples", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_what_was_bent_is_rejected(sealed, number, examples, proofs):
    """Of what was sealed anew, numbers and names in the identity and the domain, signs and steps; else anything."""

    @given(seed=st.integers(0, 2**32), data=st.data())
    @settings(max_examples=examples, deadline=None, database=None, derandomize=True)
    def run(seed, data):
        rng, whole = random.Random(seed), objects.sealed(proofs[number])
        places = [p for p in _places(whole) if not sealed or _matters(p)]
        place = data.draw(st.sampled_from(places))
        # A letter with another name everywhere proves the same.
        rename = isinstance(place[-1], str) and (not sealed or place[0] != "letters") and data.draw(st.booleans())
        bent = (_renamed if rename else _bent)(whole, place, rng)
        with pytest.raises(ValueError):
            checker.check(_text(bent) if sealed else json.dumps(bent))

    run()


def _matters(place):
    if place[0] == "steps":
        # What a number or a comparison is called, and nothing uses, is a name.
        return place[2] > 0
    return place[0] in _PROVING and not _WORDS & set(map(str, place))


def test_a_proof_for_all_letters_is_an_object_for_each_case():
    shown = prove(claims.get("baseline/scaffnew/one-step"), 0.0)
    written = for_all_letters.of(shown)
    assert [data["at"]["case"] for data in written] == ["without g, mu = L", "without g, mu < L"]
    for data in written:
        assert checker.check(json.dumps(data)) == data
        assert {"L", "gamma", "p"} <= set(data["letters"]) <= {"L", "gamma", "mu", "n", "p", "max 0"}


def test_what_is_shared_has_one_weight_without_letters_of_a_client():
    data = found.all_of(CLIENTS)[0]
    first, second = ([k for k in p["known"] if "shared" in k] for p in data["programs"])
    assert [k["weight"] for k in first] == [k["weight"] for k in second] and first and data["own"]
    assert checker.check(json.dumps(data)) == data
    # Twice an inequality of one client alone is one; of a client's share in a sum it is none.
    other = json.loads(json.dumps(data))
    program = other["programs"][0]
    (k,) = (i for i, item in enumerate(program["known"]) if item["name"] == first[0]["name"])
    half = {**program["known"][k], "weight": _times(first[0]["weight"], "1/2")}
    program["known"][k : k + 1] = [half, half]
    with pytest.raises(ValueError, match="a shared weight"):
        checker.check(_text(other))
    (one,) = found.all_of("feddcd/heterogeneity")
    with pytest.raises(ValueError, match="a shared weight"):
        checker.check(_text({**one, "own": ["L"]}))


def _times(c, factor):
    if isinstance(c, str):
        return str(Fraction(c) * Fraction(factor))
    return {**c, "num": [[str(Fraction(a) * Fraction(factor)), m] for a, m in c["num"]]}


def test_an_order_of_growth_is_the_arithmetic_of_its_weights():
    """A smaller constant is none: the share of some term is all of it. Other exponents do not agree."""
    data, *_ = found.all_of(GROWTH)
    assert data["kind"] == "arithmetic" and checker.check(json.dumps(data)) == data
    assert any("left <= 4 right" in line for line in data["says"])
    for number, other in (("4", "3999/1000"), ("-1", "-2"), ("-1", "-1/2")):
        steps = [[number, other] if step == [number, number] else step for step in data["steps"]]
        assert steps != data["steps"]
        with pytest.raises(ValueError):
            checker.check(_text({**data, "steps": steps}))


def test_a_name_given_twice_is_rejected(exported):
    text = json.dumps(exported[0])
    twice = text.replace('"target": {', '"target": {"1|1": "0", "1|1": "0", ', 1)
    with pytest.raises(ValueError, match="twice"):
        checker.check(twice)


def test_the_command_writes_objects_and_says_what_has_none(tmp_path, capsys):
    assert main(["export", CASES, "--out", str(tmp_path)]) == 0
    *written, counted = capsys.readouterr().out.splitlines()
    assert len(list(tmp_path.glob("*.json"))) == len(written)
    assert counted == f"objects: identity {len(written)}"
    assert (tmp_path / "checker.py").is_file()
    assert main(["export", BROKEN, "fedadmm/example-5.1", "--out", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "arithmetic 1, identity 1, recomputation 1" in told and "neither proved" in told
    assert main(["export", "--all", BROKEN, "--out", str(tmp_path)]) == 2
    assert main(["export", "nobody/knows", "--out", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("id", "kind"),
    [
        (BROKEN, "arithmetic"),
        ("fedopt/one-shot-averaging", "arithmetic"),
        ("fedopt/fsvrg/property-b", "arithmetic"),
        ("fedadmm/eq-21", "recomputation"),
        ("feddcd/lemma-C.2/repaired", "identity"),
        ("baseline/diana/rate", "identity"),
        ("baseline/diana/invariant", "identity"),
        ("feddcd/lemma-B.3/eq-18", "identity"),
        ("baseline/scaffnew/rate", "identity"),
    ],
)
def test_objects_of_all_kinds_are_of_the_format_and_are_told(id, kind, tmp_path, capsys):
    (made,) = found.all_of(id)
    assert made["kind"] == kind
    assert formats.checked("proof", checker.check(json.dumps(made)))
    (tmp_path / "one.json").write_text(json.dumps(made), encoding="utf-8")
    (tmp_path / "bent.json").write_text(json.dumps({**made, "says": ["something else"]}), encoding="utf-8")
    assert main(["replay", str(tmp_path / "one.json")]) == 0
    assert kind in capsys.readouterr().out
    assert main(["replay", str(tmp_path / "bent.json")]) == 1
    assert "does NOT hold" in capsys.readouterr().out


def test_a_calculation_gives_a_name_once_and_compares_in_the_end():
    def check(*steps):
        at = {name: by for name, by, *of in steps if not of}
        return checker.check(_arithmetic(at, *steps))

    two, three, less = ("a", "2"), ("b", "3"), ("c", "<", "a", "b")
    assert check(two, three, less)
    for bad in (
        (),
        (two, three),
        (two, ("a", "3"), ("c", "<", "a", "a")),
        (two, three, ("c", "<", "b", "a")),
        (two, three, less, ("d", "1")),
        (two, less, three),
        (two, three, ("c", "!", "a", "b")),
        (two, ("b", "0"), ("d", "/", "a", "b"), less),
        (("a", "nan"), three, less),
        # A name that reads as a number is that number, and what is compared is none.
        (two, ("3", "+", "a", "a"), ("c", "<", "a", "3")),
        (two, three, less, ("d", "+", "c", "c"), ("e", "==", "a", "d")),
    ):
        with pytest.raises(ValueError):
            check(*bad)
    # Numbers that have names are told, each of them and no others.
    for at in ({}, {"a": "2"}, {"a": "2", "b": "4"}, {"a": "2", "b": "3", "n": "1"}):
        with pytest.raises(ValueError, match="numbers"):
            checker.check(_arithmetic(at, two, three, less))


def _arithmetic(at, *steps):
    head = {"format": checker.FORMAT, "kind": "arithmetic", "claim": "x", "says": []}
    return json.dumps(objects.sealed({**head, "at": at, "steps": [*map(list, steps)]}))


def test_signs_are_not_calculated_in_floats():
    """x is not at least 10^-400 because it is in floats, where y >= 1 is written by a slack."""
    tiny, one, above = f"1/1{'0' * 400}", [["1", [0, 0]]], [["1", [0, 1]], ["-1", [0, 0]]]
    false, chart = [["1", [1, 0]], [f"-{tiny}", [0, 0]]], [["y", "y", one, above]]
    by = {"constant": "1", "factors": [{"of": false, "power": 1, "sign": 1, "chart": chart}]}
    data = {
        **LETTERS,
        "letters": {"x": ">= 0", "y": ">= 0"},
        "domain": {"y": {"is": above, "sign": ">= 0"}},
        "point": {"x": "1", "y": "2"},
        "nonzero": [],
        "programs": [
            {
                "claimed": "x >= tiny",
                "target": {"1|1": {"num": [["-1", [1, 0]], [tiny, [0, 0]]], "den": one}},
                "known": [],
                "squares": [{"weight": {"num": false, "den": one}, "vector": {"1": "1"}, "by": by}],
            }
        ],
    }
    for sign in (1, 1.0, True):
        by["factors"][0]["sign"] = sign
        with pytest.raises(ValueError, match="sign"):
            checker.check(_text(data))
    by["constant"] = 1.0
    with pytest.raises(ValueError, match="not a fraction as text"):
        checker.check(_text(data))


def test_nothing_is_said_that_is_not_checked():
    """What a calculation shows is no program that comes with it, nor letters or a domain."""
    steps = ("a", "2"), ("b", "3"), ("c", "<", "a", "b")
    good = json.loads(_arithmetic({"a": "2", "b": "3"}, *steps))
    assert checker.check(json.dumps(good))
    for more in ("programs", "letters", "domain", "own", "nonzero"):
        with pytest.raises(ValueError, match="more"):
            checker.check(_text({**good, more: LETTERS.get(more, [])}))
    with pytest.raises(ValueError, match="more"):
        checker.check(_text({**LETTERS, "says": [], "steps": good["steps"]}))


def test_a_sign_may_need_a_constraint_besides_slacks():
    """2 - x - x^2 >= 0 where 1 - x^2 >= 0 and x <= 1; not where so much is taken off that the rest is below 0."""
    one, square, line = [["1", [0]]], [["1", [0]], ["-1", [2]]], [["1", [0]], ["-1", [1]]]
    whole = [["2", [0]], ["-1", [1]], ["-1", [2]]]

    def check(times, name="square", left=square, by=(), sign=">= 0"):
        more = [[times, m] for _, m in by or one]
        chart = [[more, name, one, left, *([by] if by else [])], [more, "line", one, line]]
        by = {"constant": "1", "factors": [{"of": whole, "power": 1, "sign": 1, "chart": chart}]}
        program = {
            "claimed": "the sum of both",
            "target": {"1|1": {"num": [[str(-Fraction(c)), m] for c, m in whole], "den": one}},
            "known": [],
            "squares": [{"weight": {"num": whole, "den": one}, "vector": {"1": "1"}, "by": by}],
        }
        domain = {"square": {"is": square, "sign": ">= 0"}, "line": {"is": line, "sign": ">= 0"}}
        data = {**LETTERS, "letters": {"x": sign}, "domain": domain, "point": {"x": "1/2"}}
        data |= {"nonzero": [], "programs": [program]}
        return checker.check(_text(data))

    assert check("1")
    for times, name, left in (("2", "square", square), ("-1", "square", square), ("1", "line", square)):
        with pytest.raises(ValueError):
            check(times, name, left)
    with pytest.raises(ValueError):
        check("1", "square", line)
    # Of a multiple, if that is positive.
    assert check("1", by=[["1", [1]]], sign="> 0")
    for by, sign in (([["1", [1]]], ">= 0"), ([["-1", [0]]], "> 0"), ([["2", [1]], ["-1", [0]]], "> 0")):
        with pytest.raises(ValueError):
            check("1", by=by, sign=sign)


def test_a_theorem_of_ones_own_is_exported(tmp_path, capsys):
    """What is proved of a file is written, what is refuted is not."""
    file = ROOT / "examples" / "gallery" / "gradient_descent.py"
    assert main(["export", "--own", str(file), "--out", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "gradient-descent/longer-steps: refuted: " in told and "objects: arithmetic 1, identity 2" in told
    assert all(checker.check(path.read_text()) for path in tmp_path.glob("*.json"))
    assert main(["export", "--own", str(file), "--all", "--out", str(tmp_path)]) == 2


def _each_number_counts(made, part):
    """Of every program: no number of its target or its squares can be another one."""
    for k, program in enumerate(made["programs"]):
        for place in _places(program[part]):
            if "den" in place:
                continue
            bent = json.loads(json.dumps(made))
            inner = bent["programs"][k][part]
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = f"{inner[place[-1]]}1" if isinstance(inner[place[-1]], str) else inner[place[-1]] + 1
            with pytest.raises(ValueError):
                checker.check(_text(bent))


def test_sums_that_are_read_off_code_cancel_and_no_others():
    """What the code does not compute gets no object."""
    (made,) = found.all_of(READ)
    _each_number_counts(made, "target")
    claim = claims.get(READ)
    with pytest.raises(ValueError, match="same expression"):
        read_code.of(claim.variant(right=claim.statement.right * 2))


@pytest.mark.parametrize("id", ["fedopt/dane/property-c", "feddcd/lemma-B.4/eq-22", "feddcd/projection/repaired"])
def test_what_holds_in_all_states_is_an_identity(id):
    """Of vectors, of polynomials in coordinates, of forms that are squares."""
    objects, _ = found.of_claim(id)
    assert objects
    for made in objects:
        assert made["kind"] == "identity" and checker.check(json.dumps(made)) == made
        assert formats.checked("proof", made)
        _each_number_counts(made, "target")
        _each_number_counts(made, "squares")


def test_what_is_not_so_gets_no_object():
    claim = claims.get("feddcd/lemma-D.4")
    assert all(checker.check(json.dumps(data)) for data in closed.of_relations(claim))
    for right in (claim.statement.right * Fraction(1, 2), claim.statement.left - 1):
        with pytest.raises(ValueError):
            closed.of_relations(claim.variant(right=right))


def test_what_one_procedure_decides_alone_is_told_so(capsys):
    (data,) = found.all_of("baseline/5gcs-cc/rate")
    assert data["kind"] == "recomputation" and any("the only evidence" in line for line in data["says"])
    assert main(["why", "baseline/5gcs-cc/rate"]) == 0
    assert "fedtheory export" in capsys.readouterr().out


@pytest.mark.parametrize("id", ["baseline/ef21/stepsize", "fedadmm/remark-4.3/eq-28", "feddcd/gap"])
def test_roots_and_what_is_rounded_are_letters(id):
    """What the procedure for real closed fields says is said again by signs; half of a right side is not enough."""
    claim = claims.get(id)
    assert all(checker.check(json.dumps(data)) for data in closed.of_algebraic(claim))
    with pytest.raises(ValueError):
        closed.of_algebraic(claim.variant(right=claim.statement.right * Fraction(1, 2)))


@pytest.mark.slow
def test_all_certificates_with_multipliers_are_proved_by_the_checker():
    for id, entry in results.shipped().entries.items():
        if any(c["steps"] for o in entry["outcomes"] for c in o["certificates"]):
            for data in found.of_claim(id)[0]:
                checker.check(json.dumps(data))


@pytest.mark.parametrize("least, holds", [("2", True), ("1", False)])
def test_a_maximum_is_bounded_once_other_letters_are_replaced(least, holds):
    """(n - 1) M - 1 >= 0 bounds M from below if n >= 2, and not if n may be 1."""
    one = [["1", [0, 0]]]
    above, bound = [["1", [1, 0]], [f"-{least}", [0, 0]]], [["1", [1, 1]], ["-1", [0, 1]], ["-1", [0, 0]]]
    chart = [["n", "n", one, above], ["M", "M", one, [["1", [1, 1]], ["1", [0, 1]], ["-1", [0, 0]]]]]
    data = {
        "format": checker.FORMAT,
        "kind": "identity",
        "claim": "a bound",
        "says": [],
        "at": {},
        "letters": {"n": "> 0", "M": ">= 0"},
        "domain": {"n": {"is": above, "sign": ">= 0"}, "M": {"is": bound, "sign": ">= 0"}},
        "point": {"n": "3", "M": "1"},
        "nonzero": [],
        "programs": [
            {
                "claimed": "a square",
                "target": {"a|a": {"num": [["-1", [1, 1]], ["1", [0, 1]], ["1", [0, 0]]], "den": one}},
                "known": [],
                "squares": [
                    {
                        "weight": {"num": bound, "den": one},
                        "by": {"constant": "1", "factors": [{"of": bound, "power": 1, "sign": 1, "chart": chart}]},
                        "vector": {"a": "1"},
                    }
                ],
            }
        ],
    }
    text = json.dumps(objects.sealed(data))
    if holds:
        assert json.loads(text) == checker.check(text)
    else:
        with pytest.raises(ValueError, match="another polynomial"):
            checker.check(text)


def test_a_bound_through_a_potential_is_written_with_all_that_it_follows_from():
    made, why = found.of_claim("feddcd/theorem-4.1/eq-5")
    assert not why
    assert [one["claim"].rpartition("/")[2] for one in made] == [*["varying-participation"] * 2, "exact", "lemma-E.2"]
    for one in made:
        checker.check(json.dumps(one))
