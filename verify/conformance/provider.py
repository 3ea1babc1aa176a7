"""All that a provider offers, tested by one call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from verify.conformance.algorithms import algorithm
from verify.conformance.compressors import compressor
from verify.conformance.report import Report, merged
from verify.conformance.trace import check_trace
from verify.statistics.e_process import check_level

_PARTS = ("compressors", "algorithms", "traces")


def battery(provider: Any, *, seed: int = 0, level: float = 1e-6) -> Report:
    """Test all that a provider offers.

    The ``level`` is shared out evenly over the parts.

    Args:
        provider: An object (or class, module or mapping) with any of the mappings ``compressors``: name -> arguments of
            :func:`verify.conformance.compressor` as a mapping, ``compress`` among them; ``algorithms``: the algorithm's
            name (or "name: what sets this one apart") -> arguments of :func:`verify.conformance.algorithm`; ``traces``:
            the same names -> a path, or a mapping with ``path``.
        seed: The seed of all tests.
        level: The chance that a right provider is rejected.

    Returns:
        One report of all tests.

    Raises:
        ValueError: If there is nothing to test.

    Examples:
        >>> from verify import conformance
        >>> halving = {"compress": lambda x, rng: x / 2, "d": 2, "alpha": 0.75, "samples": 500}
        >>> conformance.battery({"compressors": {"half": halving}}).ok
        True
    """
    check_level(level)
    tests = list(_tests(provider, seed))
    if not tests:
        raise ValueError(f"a provider has one of the mappings {', '.join(_PARTS)}, with something in it")
    share = level / len(tests)
    return merged(_name(provider), [_renamed(name, test(share)) for name, test in tests])


def _tests(provider: Any, seed: int) -> Iterator[tuple[str, Callable[[float], Report]]]:
    for part in _PARTS:
        offered = (provider.get(part) if isinstance(provider, Mapping) else getattr(provider, part, None)) or {}
        if not isinstance(offered, Mapping):
            raise ValueError(f"{part} of a provider must be a mapping, not a {type(offered).__name__}")
        for name, given in offered.items():
            options = dict(given) if isinstance(given, Mapping) else {"path": given}
            yield f"{part[:-1]} {name}", _test(part, str(name), options, seed)


def _test(part: str, name: str, options: dict[str, Any], seed: int) -> Callable[[float], Report]:
    # "FILE.py:NAME" is a name too.
    plain = re.split(r":(?=\s)", name)[0].strip()

    def run(level: float) -> Report:
        if part == "traces":
            path = Path(options["path"])
            return check_trace(plain, path, level, options.get("tolerance"))
        given = {"seed": seed, **options, "level": level}
        return compressor(**given) if part == "compressors" else algorithm(plain, **given)

    return run


def _renamed(name: str, report: Report) -> Report:
    return Report(
        name, *(getattr(report, f) for f in ("level", "tolerance", "failures", "checked", "detects", "notes", "few"))
    )


def _name(provider: Any) -> str:
    return str(getattr(provider, "__name__", type(provider).__name__))
