"""The gallery: each file holds a theorem that stands and a neighbour that claims too much, as docs/gallery.md tells."""

import operator
import re

import pytest
from first_found import first_found
from places import EXAMPLES, ROOT

from verify import Verdict, check
from verify.base.own import load

GALLERY = EXAMPLES / "gallery"
#: A line of the table in docs/gallery.md: the file, and the verdict of what it shows.
LINE = re.compile(r"^\| `(\w+)` \| .* \| (proved|certified|supported) \|", re.MULTILINE)
TOLD = dict(LINE.findall((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")))
#: Those that are tried each time; each takes seconds, and the others are with the slow tests.
FAST = {"gradient_descent", "subgradient", "sgd_nonconvex", "scaffold_fixed_point", "fedprox"}
#: How the sides of a counterexample lie, by the relation that it contradicts.
FALLEN = {"==": operator.ne, "<=": operator.gt, "<": operator.ge}
#: Verdicts that say as much as the page, or more.
ENOUGH = {
    "proved": {"proved"},
    "certified": {"certified", "proved"},
    "supported": {"supported", "certified", "proved"},
}


def test_the_page_tells_of_every_file():
    files = {path.stem for path in GALLERY.glob("*.py")}
    assert files <= set(TOLD) and len(files) >= 25


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in sorted(TOLD)]
)
def test_what_the_page_tells_is_found_and_more_is_refuted(name):
    folder = GALLERY if (GALLERY / f"{name}.py").exists() else EXAMPLES
    # What comes first is a potential, if anything.
    *_, true, false = load(folder / f"{name}.py")
    found, fallen = check(true), first_found(false)
    assert found.verdict.value in ENOUGH[TOLD[name]], found.note
    assert fallen.verdict is Verdict.REFUTED, fallen.note
    if fallen.counterexample is not None:
        assert FALLEN[fallen.counterexample.relation](*fallen.counterexample.replay())
