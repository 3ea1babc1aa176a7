"""The report of a conformance test: failures with their reasons, what was checked, and what would have
been detected.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Characters of a failure after which it is cut where its next part begins, in a brief report.
_BRIEF = 240


# The requirements on every implementation, by the part of the interface.
_INTERFACE = {
    "raises": "it raises no error",
    "value": "it returns an array of numbers",
    "dtype": "it returns real numbers, always of the same type",
    "shape": "it returns arrays of the shape that is expected",
    "finite": "its numbers are finite",
    "in-place": "it leaves what it is given as it was",
    "aliased": "what it returned stays as it was",
    "strides": "its values do not depend on where the entries lie in memory",
    "state": "it returns a state with all letters of the method",
    "init": "it begins at a start of the method",
    "iterates": "run returns the iterate of each round, and leaves it as it was",
}
# The parts of a method from which an implementation may depart.
_METHOD = {
    "step": "the update of {}",
    "draws": "how the draws of {} are distributed",
    "invariant": "what is true of all states of {}",
}
# The claims of a compressor.
_COMPRESSOR = {
    "locodl/eq-2": "E C(x) = x and E|C(x) - x|^2 <= omega |x|^2 (LoCoDL, eq. (2))",
    "locodl/eq-2/bits": "a message of b bits tells at most 2^b values apart",
    "compressor/contraction": "E|C(x) - x|^2 <= (1 - alpha) |x|^2",
}


def _in_words(claim: str) -> str:
    """Return a violated claim in words; a registered one with the command that shows it."""
    kind, *rest = claim.split("/")
    if kind == "interface":
        return f"the interface: {_INTERFACE[rest[0]]}"
    if kind == "reference":
        return _METHOD[rest[-1]].format("/".join(rest[:-1]))
    return _COMPRESSOR.get(claim) or f"{claim}, a claim: fedtheory show {claim}"


class ConformanceError(AssertionError):
    """An implementation is not what it claims to be; the message is the report.

    Examples:
        >>> from verify.conformance import ConformanceError
        >>> issubclass(ConformanceError, AssertionError)
        True
    """


@dataclass(frozen=True)
class Failure:
    """Something that an implementation does and the theory excludes.

    Attributes:
        claim: The id of the claim that is broken, as ``fedtheory list`` has it, or of a part of a conformance test
            ("interface/shape", "reference/scaffold/step", ...).
        where: The field, line or argument at fault.
        evidence: What was seen, with numbers.
        replay: Python that shows it again.
        data: The numbers themselves, by name.

    Examples:
        >>> from verify import conformance
        >>> report = conformance.compressor(lambda x, rng: x[:1], d=2, omega=1)
        >>> report.failures[0].claim
        'interface/shape'
    """

    claim: str
    where: str
    evidence: str
    replay: str
    data: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def violated(self) -> str:
        """The claim that is violated, in words."""
        return _in_words(self.claim)

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.evidence}", f"violates  {self.violated}"]
        return "\n".join((*lines, *(f"replay    {line}" for line in self.replay.splitlines())))


@dataclass(frozen=True)
class Report:
    """The result of a conformance test.

    Attributes:
        subject: What was tested.
        level: The chance that a right implementation is rejected, all tests of the report together (the parts that
            compare numbers have none).
        tolerance: Relative errors below it count as rounding.
        failures: None for an implementation that conforms.
        checked: What was tested, a line each.
        detects: The smallest defect that each test was sure to find (with probability at least 1 - ``level``), by what
            it is a defect of.
        notes: Remarks that are not failures.
        few: On what it was tested, if that is next to nothing.

    Examples:
        >>> from verify import conformance
        >>> report = conformance.compressor(lambda x, rng: x[:1], d=2, omega=1)
        >>> report.ok
        False
        >>> print(report.brief.splitlines()[0])
        the compressor on R^2, claimed to be unbiased with omega = 1, does NOT conform (1 failure)
    """

    subject: str
    level: float
    tolerance: float
    failures: tuple[Failure, ...] = ()
    checked: tuple[str, ...] = ()
    detects: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    few: str = ""

    @property
    def ok(self) -> bool:
        """True if the test found no failure."""
        return not self.failures

    def raise_if_failed(self) -> Report:
        """Return the report itself if the test found no failure.

        Returns:
            The report.

        Raises:
            ConformanceError: With the report's text, if there are failures.
        """
        if self.failures:
            raise ConformanceError(str(self))
        return self

    @property
    def brief(self) -> str:
        """The report in three lines: the verdict, the first failure up to where it says enough, how to see it again."""
        head, *rest = str(self).splitlines()
        if self.ok:
            return "\n".join((head, *rest[:2]))
        first = self.failures[0]
        summary, _, left = first.evidence.partition("; ")
        while left and len(summary) < _BRIEF:
            part, _, left = left.partition("; ")
            summary += f"; {part}"
        summary = summary if len(summary) <= 2 * _BRIEF else f"{summary[: 2 * _BRIEF]} ..."
        return f"{head}\n  1. {first.where}: {summary}\n     replay    {'; '.join(first.replay.splitlines())}"

    def __str__(self) -> str:
        many = "" if len(self.failures) == 1 else "s"
        verdict = "conforms" if self.ok else f"does NOT conform ({len(self.failures)} failure{many})"
        if self.few and self.ok:
            verdict = f"agrees with the theory where it was tested, which is next to nothing: {self.few}"
        lines = [f"{self.subject} {verdict}"]
        for number, failure in enumerate(self.failures, 1):
            first, *rest = str(failure).splitlines()
            lines += [f"  {number}. {first}", *(f"     {line}" for line in rest)]
        lines += [f"  checked   {text}" for text in self.checked]
        lines += [f"  detects   {name}: {_size(size)}" for name, size in self.detects.items() if math.isfinite(size)]
        lines += [f"  note      {text}" for text in self.notes]
        lines.append(f"  errors    rejects what is right with probability at most {self.level:.2g}")
        if self.tolerance:
            lines[-1] += f"; relative differences up to {self.tolerance:.2g} are rounding"
        return "\n".join(lines)


def _size(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.2g}"


def merged(subject: str, parts: Iterable[Report]) -> Report:
    """One report of several tests, whose levels add up."""
    reports = tuple(parts)
    failures = tuple(
        Failure(f.claim, f"{r.subject}: {f.where}", f.evidence, f.replay, f.data) for r in reports for f in r.failures
    )
    return Report(
        subject,
        math.fsum(r.level for r in reports),
        max((r.tolerance for r in reports), default=0.0),
        failures,
        tuple(f"{r.subject}: {text}" for r in reports for text in r.checked),
        {f"{r.subject}: {name}": size for r in reports for name, size in r.detects.items()},
        tuple(f"{r.subject}: {text}" for r in reports for text in r.notes),
        "; ".join(f"{r.subject}, {r.few}" for r in reports if r.few),
    )


def check_seed(seed: Any) -> None:
    """Raise ``ValueError`` unless it is a seed."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"the seed must be a nonnegative integer, got {seed!r}")


def real_type(dtype: Any) -> np.dtype[Any]:
    """The type. Raise ``ValueError`` unless it is a real floating one of at most 64 bits."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"{dtype!r} is not a type of numbers") from None
    if kind.kind != "f" or kind.itemsize > 8:
        raise ValueError(f"only real floating-point numbers of at most 64 bits are tested, not {kind}")
    return kind


def rounding_of(dtype: Any) -> float:
    """The relative error that counts as rounding, unless stated: 1e-9 in double precision, 1024 units of others."""
    return float(min(max(1e-9, 1024 * np.finfo(real_type(dtype)).eps), 0.02))


def raised(error: BaseException) -> str:
    """An exception in words, with the last line of the user's code that it came through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/verify/conformance/" not in f.filename]
    place = f" at {frames[-1].filename.split('/')[-1]}:{frames[-1].lineno}, `{frames[-1].line}`" if frames else ""
    return f"raises {type(error).__name__}: {' '.join(str(error).split()) or 'no message'}{place}"
