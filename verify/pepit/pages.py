"""The upper bound of a model as a page of a paper: the theorem, what is known, and the sum that proves it.

The layout is that of proofs of claims (:mod:`verify.export.latex`): every formula is read again, and the checker has to
accept what was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.export import latex
from verify.export.latex_layout import broken
from verify.export.latex_names import symbols
from verify.export.latex_reading import ratio_of
from verify.export.latex_scalars import Scalars
from verify.export.latex_words import identifier, mathematical
from verify.export.objects import ProofObjects
from verify.multipliers.ratios import polynomials

#: The name of what is bounded.
OBJECTIVE = "tau"


def text(objects: ProofObjects, defined: Sequence[str], attained: str = "") -> str:
    """A file with the theorem and its proof.

    Args:
        objects: Proofs of the upper bound, one for each case.
        defined: Sentences on the points of the model, as :class:`~verify.pepit.notation.Notation` has them.
        attained: A sentence on whether the bound is attained.

    Raises:
        ValueError: If what is written, read again, is not accepted by the checker.
    """
    data = objects[0]
    sentences = [
        f"{identifier(data['claim'])}.",
        "In a real inner-product space, let vectors and numbers satisfy what is listed as known below.",
        f"Then {_bound(data, objects)}.",
        mathematical(attained),
    ]
    head = [
        "\\section*{Theorem}\n" + " ".join(filter(None, sentences)),
        "\n\n".join(map(mathematical, defined)),
    ]
    stated = [line for of in objects for line in of["says"] if line.startswith("the objective is")]
    return latex.accepted(latex.document(list(filter(None, head)), objects, stated), objects)


def _bound(data: Mapping[str, Any], objects: ProofObjects) -> str:
    """Return the bound of the objective, from the target that is shown to be at most 0."""
    target = data["programs"][0]["target"]
    if set(target) - {OBJECTIVE, "1|1"} or target.get(OBJECTIVE) != "1":
        raise ValueError("the target does not bound the objective")
    names = symbols(objects.each, objects.reasons)
    ring = polynomials(tuple(data["letters"]))
    bound = -ratio_of(ring, target.get("1|1", "0"))
    number = Scalars(list(data["letters"]), names.letters, ring).ratio(bound)
    return f"\\({names.values[OBJECTIVE]} \\le {broken(number)}\\)"
