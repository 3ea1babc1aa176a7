"""A file of which some lines fail: the claims that do not depend on them are tested, and each failure is a sentence."""

from __future__ import annotations

import json

import pytest

from verify.cli import main, recovering

HEAD = """
import fedtheory as ft

x, y = ft.letters("x y")
setting = ft.Setting(letters=(x, y))


def claim(name, left):
    return ft.Claim(f"mine/{name}", setting=setting, statement=ft.Inequality(left, left + y))


"""


def loaded(tmp_path, text, head=HEAD):
    path = tmp_path / "mine.py"
    path.write_text(head + text)
    found, failures = recovering.load(path)
    return [one.id.removeprefix("mine/") for one in found], [f.removeprefix(str(path)) for f in failures]


@pytest.mark.parametrize(
    ("text", "left", "failures"),
    [
        ("CLAIMS = (claim('a', x), claim('b', [x]), claim('c', y))", "a c", [", line 9: TypeError: "]),
        ("CLAIMS = [claim('a', x), claim('b', nothing), claim('c', y)]", "a c", [", line 12: NameError: "]),
        ("CLAIMS = [claim('a', x), claim('b', 1/0), claim('c', [y])]", "a", [", line 12: Zero", ", line 9: Type"]),
        ("CLAIMS = (claim('a', x),)\nCLAIMS += (claim('b', 1 / 0), claim('c', y))", "a c", [", line 13: "]),
        ("CLAIMS = []\nCLAIMS.append(claim('a', 1 / 0))\nCLAIMS.append(claim('b', y))", "b", [", line 13: "]),
        # What needs a name that failed is not another failure.
        ("b = claim('b', 1 / 0)\nCLAIMS = claim('a', x), b, claim('c', b.statement)", "a", [", line 12: "]),
        ("CLAIMS = (claim('a', x), 3)", "a", [": CLAIMS holds 3, which is not a claim"]),
        ("from math import nothing\nCLAIMS = (claim('a', x), claim('b', nothing))", "a", [", line 12: ImportError"]),
        # Statements that do more than to bind a name end the file.
        ("CLAIMS = [claim('a', x)]\nfor k in 1, 0:\n    CLAIMS.append(claim(f'b{k}', x / k if k else 1 / k))\nx = y\n"
         "CLAIMS.append(claim('c', x))", "a b1", [", line 14: "]),
        ("CLAIMS = [claim('a', x)]\nsetting.change(1)\nCLAIMS.append(claim('b', x))", "a", [", line 13: Attribute"]),
        ("CLAIMS = [claim('a', x)]\nexit()\nCLAIMS.append(claim('b', x))", "a", [", line 13: SystemExit"]),
        # So do those that would leave a name with another meaning.
        ("CLAIMS = [claim('a', x)]\nx = 1 / 0\nCLAIMS.append(claim('b', x))", "a", [", line 13: "]),
        ("CLAIMS = [claim('a', x)]\nmax = 1 / 0\nCLAIMS.append(claim('b', max(1, 2)))", "a", [", line 13: "]),
        ("z, CLAIMS = y, [claim('a', x)]\nz += 1 / 0\nCLAIMS.append(claim('b', z))", "a", [", line 13: "]),
        ("CLAIMS = [claim('a', x)]\nz = 1 / 0\nz = y\nCLAIMS.append(claim('b', z))", "a", [", line 13: "]),
        ("CLAIMS = [claim('a', x)]\nz = 1 / 0\nfrom math import *\nCLAIMS.append(claim('b', 2))", "a", [", line 13: "]),
        ("def f():\n    global z\n    z = 2\nCLAIMS = [claim('a', x)]\nz = 1 / 0\nf()\nCLAIMS += [claim('b', z)]", "a",
         [", line 16: "]),
    ],
)  # fmt: skip
def test_claims_beside_lines_that_fail(tmp_path, text, left, failures):
    found, why = loaded(tmp_path, text)
    assert found == left.split() and len(why) == len(failures)
    assert all(one.startswith(start) for one, start in zip(why, failures, strict=True)), why


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CLAIMS = (claim('a', 1 / 0),)", "line 12: ZeroDivisionError"),
        ("CLAIMS = tuple(claim(f'a{k}', 1 // k) for k in (1, 0))", "line 12: ZeroDivisionError"),
        ("1 / 0\nCLAIMS = (claim('a', x),)", "line 12: ZeroDivisionError"),
        ("CLAIMS = (claim('a', x), ", "line 12: '\\(' was never closed"),
        ("CLAIMS = (3, 4)", "CLAIMS holds 3, which is not a claim"),
    ],
)
def test_a_file_without_a_claim_that_is_left(tmp_path, text, error):
    with pytest.raises(ValueError, match=error):
        loaded(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        # A function finds the value that a name has when it is called, not that which it had where claims were made.
        ("c = 1\ndef f():\n    return c\nCLAIMS = (claim('a', x),)\nc = 2 / 0", "c"),
        ("c = 1\nf = lambda: c\nCLAIMS = (claim('a', x),)\n1 / 0\nc = 2", "c"),
        ("c = 1\nf = lambda: c\nCLAIMS = (claim('a', x),)\nexit()\nfor c in range(2):\n    pass", "c"),
        ("c = {'c': 1}\nf = lambda: c\nCLAIMS = (claim('a', x),)\nz = c.update(c=1 / 0)", "c"),
        ("c = [1]\nf = lambda: c[0]\nCLAIMS = (claim('a', x),)\nc.append(1 / 0)", "c"),
        ("c = ([1],)\nf = lambda: c[0]\nCLAIMS = (claim('a', x), claim('b', c[0].append(1 / 0)))", "c"),
        ("CLAIMS = (claim('a', x),)\nclaim.c = 1 / 0", "claim.c"),
        ("CLAIMS = (claim('a', x),)\n1 / 0\nvars()['y'] = x", "vars()['y']"),
    ],
)  # fmt: skip
def test_no_claim_is_left_whose_functions_would_find_something_else(tmp_path, text, name):
    with pytest.raises(ValueError, match="may have changed") as caught:
        loaded(tmp_path, text)
    assert f"may have changed {name}, which" in str(caught.value)


def test_lines_that_fail_without_end_are_not_tried_without_end(tmp_path):
    many = "".join(f"claim('b{k}', 1 / 0), " for k in range(40))
    found, why = loaded(tmp_path, f"CLAIMS = [claim('a', x)]\nCLAIMS += [{many}]")
    assert found == ["a"] and len(why) == recovering._MOST + 1


def test_the_others_are_tested_and_the_status_is_2(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(f"{HEAD}CLAIMS = (claim('b', 1 / 0), claim('a', x))")
    assert main(["check", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert [one["verdict"] for one in answer["claims"]] == ["proved"]
    assert answer["error"] == f"{path}, line 12: ZeroDivisionError: division by zero"
    assert err.endswith(f"fedtheory: {answer['error']}\n")
    assert main(["check", str(path), "mine/b"]) == 2
    assert "line 12: ZeroDivisionError" in capsys.readouterr().err
