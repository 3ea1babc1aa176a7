"""The words of a proof as data: where known inequalities come from, and the meanings of names and letters.

``str`` of each is the English sentence that stands in a proof object; :mod:`verify.export.latex_words` prints the same
data in LaTeX.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verify.multipliers.ratios import Ratio
from verify.reading.terms import Op
from verify.reading.worlds import Atom, WorldValue


def as_text(value: WorldValue) -> str:
    """A number or a vector, every factor as it is named in the code."""
    terms = ("*".join([f"({c})", *_factors(key)]) for key, c in value.of.items())
    return " + ".join(terms) or "0"


def in_words(value: WorldValue) -> str:
    """A number or a vector as a sum of products, letters without what they are of; empty for zero."""
    return " + ".join(_product(c, _factors(key)) for key, c in value.of.items())


def _factors(key: tuple[frozenset[str], tuple[Atom, ...]]) -> list[str]:
    draws, atoms = key
    return [*sorted(draws), *(atom.name for atom in atoms)]


def _product(c: Any, factors: Sequence[str]) -> str:
    number = str(c)
    shown = f"({number})" if " + " in number or " - " in number else number
    return without_kinds(" ".join(factors if number == "1" and factors else (shown, *factors)))


def without_kinds(text: str) -> str:
    """Names without what kind of letters they are."""
    for kind in (Op.LETTER, Op.GIVEN):
        text = text.replace(f"{kind} ", "")
    return text


class Reason(ABC):
    """A sentence of a proof, as data."""

    @abstractmethod
    def __str__(self) -> str:
        """The sentence in English."""


@dataclass(frozen=True)
class Stated(Reason):
    """A sentence that is about no value."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Phrase(Reason):
    """A sentence in which values of the proof stand among words."""

    parts: tuple[str | WorldValue, ...]

    def __str__(self) -> str:
        return "".join(part if isinstance(part, str) else as_text(part) for part in self.parts)


# Where a known inequality comes from


@dataclass(frozen=True, eq=False)
class FunctionPoint:
    """A point at which a function is asked, and its ``number`` among those; ``offset``: less the anchor, a point such
    as x*, or the point itself where the anchor has no name."""

    number: int
    anchor: str
    offset: WorldValue

    def __str__(self) -> str:
        return f"{self.anchor} + {as_text(self.offset)}" if self.anchor else in_words(self.offset)


@dataclass(frozen=True, eq=False)
class Between(Reason):
    """An inequality between two points of a ``function``; ``family``: under what name such inequalities are known."""

    family: str
    function: str
    points: tuple[FunctionPoint, FunctionPoint]

    @property
    def name(self) -> str:
        """The name of the inequality."""
        return self._named(*self.points)

    @property
    def opposite(self) -> str:
        """The name of that between the same points in the other order."""
        return self._named(*self.points[::-1])

    def _named(self, one: FunctionPoint, other: FunctionPoint) -> str:
        return f"{self.family}[{one.number},{other.number}]"

    @property
    def _between(self) -> str:
        return f"between {self.points[0]} and {self.points[1]}"


@dataclass(frozen=True, eq=False)
class Curvatures(Between):
    """A function, or ``each`` client's, has curvatures between two numbers; without a ``largest``, any."""

    each: bool
    least: WorldValue
    largest: WorldValue | None

    def __str__(self) -> str:
        largest = "any" if self.largest is None else as_text(self.largest)
        ends = f"has curvatures between {as_text(self.least)} and {largest}"
        return f"{_whose(self.function, self.each)} {ends}, {self._between}{_summed(self.each)}"


@dataclass(frozen=True, eq=False)
class Smoothness(Between):
    """The average of the f_i is L-smooth, or ``each`` of them with a constant of its own."""

    each: bool

    def __str__(self) -> str:
        who = "each f_i is L_i-smooth" if self.each else "the average is L-smooth"
        return f"{who}, {self._between}{_summed(self.each)}"


@dataclass(frozen=True, eq=False)
class OfOperators(Between):
    """Each operator ``does`` something, such as "is monotone"; ``each``: there are several."""

    does: str
    each: bool

    def __str__(self) -> str:
        return f"each F_i {self.does}, {self._between}{_summed(self.each)}"


@dataclass(frozen=True, eq=False)
class ClientCurvatures(Between):
    """A generic client's function, its conjugate f* or g has curvatures between two numbers."""

    least: WorldValue
    largest: WorldValue

    def __str__(self) -> str:
        what = {"f*": "the client's conjugate", "g": "g"}.get(self.function, "the client's function")
        one, other = self.points
        return f"{what} {_in_range(self.least, self.largest)}: between ({one}) and ({other})"


@dataclass(frozen=True, eq=False)
class MovedCurvatures(Reason):
    """The same of a client's function at a point to which the client moves if it is drawn."""

    least: WorldValue
    largest: WorldValue

    def __str__(self) -> str:
        ends = _in_range(self.least, self.largest)
        return f"the client's function {ends}: by the tangent from which it moves, if drawn"


@dataclass(frozen=True, eq=False)
class DrawnCurvature(Reason):
    """A bound by the least or the largest curvature on the value at a point that is drawn, by the gradient at another;
    ``when``: 1 where the value is asked, else 0."""

    function: str
    each: bool
    end: str
    curvature: WorldValue
    at: FunctionPoint
    by: FunctionPoint
    when: WorldValue

    def __str__(self) -> str:
        return (
            f"the {self.end} curvature of {self.function} is {as_text(self.curvature)}: at {self.at}, which is drawn, "
            f"by the gradient at {self.by}, where {as_text(self.when)} is 1"
        )


@dataclass(frozen=True, eq=False)
class GradientBound(Reason):
    """The gradients of a function, or of ``each`` client's, have squares of at most a number."""

    function: str
    each: bool
    square: WorldValue
    at: FunctionPoint

    def __str__(self) -> str:
        most = f"has gradients of squares of at most {as_text(self.square)}"
        return f"{_whose(self.function, self.each)} {most}, at {self.at}{_summed(self.each)}"


@dataclass(frozen=True, eq=False)
class Dissimilarity(Reason):
    """The gradients of all functions differ, as the root of a mean of squares, by at most a number at a point."""

    function: str
    most: WorldValue
    at: FunctionPoint

    def __str__(self) -> str:
        of, most = self.function, as_text(self.most)
        return f"the mean of the squares of grad {of}_i less grad {of} is at most ({most})^2, at {self.at}"


@dataclass(frozen=True, eq=False)
class OfAverage(Reason):
    """The ``inequality`` that a class states of the average of the f_i."""

    inequality: str
    at: FunctionPoint

    def __str__(self) -> str:
        return f"the class says of the average of the f_i, at {self.at}: {self.inequality}"


@dataclass(frozen=True, eq=False)
class Compression(Reason):
    """The "errors" of compressors, their "mean error", or the "error" of one client (``of``) have a square of at most
    ``factor`` times that of the ``vector`` that is compressed."""

    of: str
    factor: WorldValue
    vector: WorldValue

    def __str__(self) -> str:
        if self.of == "error":
            return f"E|C_i(v) - v|^2 <= {in_words(self.factor)} |v|^2, at v = {in_words(self.vector)}"
        factor, vector = as_text(self.factor), as_text(self.vector)
        if self.of == "errors":
            return f"E|C_i(v_i) - v_i|^2 <= ({factor}) |v_i|^2, summed over the clients, v = {vector}"
        return f"E|mean of C_i(v_i) - v_i|^2 <= ({factor}) times the mean of |v_i|^2, v = {vector}"


@dataclass(frozen=True, eq=False)
class Noise(Reason):
    """The ``variance`` of noise is at most a number, or what the step says."""

    variance: WorldValue | None
    vector: WorldValue

    def __str__(self) -> str:
        most = "is at most what the step says" if self.variance is None else f"<= {as_text(self.variance)}"
        return f"E|noise of each|^2 {most}, summed over the clients, at {as_text(self.vector)}"


@dataclass(frozen=True)
class OfSetting(Reason):
    """A statement of the setting that something is at most 0 in all states; ``name``: of the inequality."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}, of what the setting says is at most 0: {self.text}"


@dataclass(frozen=True, eq=False)
class ZeroSum(Reason):
    """A ``vector`` of each client sums to zero, in an inner product with one, ``shared``, that all have."""

    vector: WorldValue
    shared: str

    def __str__(self) -> str:
        return f"summed over the clients this is zero: <{in_words(self.vector)}, {self.shared}>"


def _whose(function: str, each: bool) -> str:
    return f"each {function}_i" if each else function


def _summed(each: bool) -> str:
    return ", summed over the clients" if each else ""


def _in_range(least: WorldValue, largest: WorldValue) -> str:
    return f"has curvatures in [{in_words(least) or '0'}, {in_words(largest)}]"


# The meanings of names and letters


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of two numbers, ``by`` "==", "!=", "<" or "<="."""

    by: str
    left: WorldValue
    right: WorldValue

    def __str__(self) -> str:
        return f"{in_words(self.left) or '0'} {self.by} {in_words(self.right) or '0'}"


@dataclass(frozen=True, eq=False)
class Combined:
    """Conditions that are combined by "not", "and" or "or"; a text for a known truth value."""

    by: str
    of: tuple[Comparison | Combined | str, ...]

    def __str__(self) -> str:
        if self.by == "not":
            return f"not ({self.of[0]})"
        return f" {self.by} ".join(f"({part})" for part in self.of)


@dataclass(frozen=True, eq=False)
class InCase(Reason):
    """A condition on the letters, and whether it ``holds`` in the case."""

    condition: Comparison | Combined | str
    holds: bool

    def __str__(self) -> str:
        return f"in this case it is {'' if self.holds else 'not '}so that {self.condition}"


@dataclass(frozen=True, eq=False)
class Tangent(Reason):
    """``name``: of the value of a function at a point, less its tangent at another."""

    name: str
    function: str
    each: bool
    at: WorldValue
    base: WorldValue

    def __str__(self) -> str:
        whose = "the client's " if self.each else ""
        here, there = (in_words(point) or "0" for point in (self.at, self.base))
        return f"{self.name}, grad {self.name}: of {whose}{self.function} at ({here}), less its tangent at ({there})"


@dataclass(frozen=True, eq=False)
class ClientSum:
    """The sum over the clients of a product of their ``letters``, masks and vectors, under its name."""

    name: str
    letters: Any
    masks: frozenset[str]
    vectors: tuple[Atom, ...]


@dataclass(frozen=True, eq=False)
class SumLetter(Reason):
    """A letter for a sum of numbers over the clients."""

    letter: str
    sum: ClientSum

    def __str__(self) -> str:
        return f"{self.letter} = {without_kinds(self.sum.name)}"


@dataclass(frozen=True, eq=False)
class Total(Reason):
    """A name for a combination of sums of vectors over the clients."""

    name: str
    value: WorldValue
    sums: Mapping[str, ClientSum] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name} = {in_words(self.value)}"


@dataclass(frozen=True, eq=False)
class Relation(Reason):
    """A vector that is zero; ``name``: of the vector that this defines, if it stands in it."""

    name: str
    value: WorldValue
    sums: Mapping[str, ClientSum] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}: 0 = {in_words(self.value)}"


@dataclass(frozen=True)
class Shifted(Reason):
    """Vectors that are 0 once all are shifted alike, which changes nothing."""

    vectors: tuple[str, ...]

    def __str__(self) -> str:
        return f"nothing changes where all vectors move alike, so that of these some are 0: {', '.join(self.vectors)}"


@dataclass(frozen=True, eq=False)
class RootLetter(Reason):
    """A letter that is written by square roots; ``names``: of the letters of the number that it is."""

    letter: str
    value: Ratio
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.letter} = {self.value}"


@dataclass(frozen=True)
class MaximumLetter(Reason):
    """A letter that stands for a maximum of the claim."""

    letter: str

    def __str__(self) -> str:
        return f"{self.letter} stands for a maximum of the claim, of which only the bounds below are used"


@dataclass(frozen=True)
class Follows(Reason):
    """A ``claim`` follows from what is shown, ``by`` something."""

    claim: str
    by: str

    def __str__(self) -> str:
        return f"of {self.claim}, which follows from it {self.by}:"
