"""The pytest plugin: the fixture ``conformance`` and the mark ``fedtheory``. Importing it imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark."""
    config.addinivalue_line(
        "markers",
        "fedtheory(algorithm=None, **options): options for the test's `conformance` fixture, such as "
        "fedtheory('scaffold', seed=3), fedtheory(d=200, omega=9) or fedtheory(level=1e-9)",
    )


class Conformance:
    """What the fixture gives: tests of a compressor, of an algorithm, of a trace, or of all that a provider offers.

    Each returns its report, and fails the test with it if the implementation does not conform. Options of the mark
    ``fedtheory`` are those of the call, unless the call says otherwise.
    """

    def __init__(self, algorithm: str | None, options: dict[str, Any]) -> None:
        self._algorithm = algorithm
        self._options = options

    def compressor(self, compress: Any, d: int | None = None, omega: Any = None, **options: Any) -> Any:
        """As ``verify.conformance.compressor``."""
        from verify import conformance

        given = {"d": d, "omega": omega}
        named = {**self._options, **{k: v for k, v in given.items() if v is not None}, **options}
        if "alpha" in options:
            named.pop("omega", None)
        return self._told(conformance.compressor, compress, **named)

    def algorithm(self, name: str | None = None, **options: Any) -> Any:
        """As ``verify.conformance.algorithm``."""
        from verify import conformance

        return self._told(conformance.algorithm, name or self._named(), **{**self._options, **options})

    def trace(self, path: Any, name: str | None = None, **options: Any) -> Any:
        """As ``fedtheory check-trace``."""
        from verify import conformance

        return self._told(conformance.check_trace, name or self._named(), path, **{**self._options, **options})

    def battery(self, provider: Any, **options: Any) -> Any:
        """As ``verify.conformance.battery``."""
        from verify import conformance

        return self._told(conformance.battery, provider, **{**self._options, **options})

    def _named(self) -> str:
        if self._algorithm is None:
            raise ValueError("which algorithm? name it in the call, or mark the test fedtheory('NAME')")
        return self._algorithm

    def _told(self, test: Callable[..., Any], *args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        try:
            report = test(*args, **options)
        except ValueError as error:
            # Arguments that make no sense, in one sentence.
            pytest.fail(str(error), pytrace=False)
        if not report.ok:
            # The report says what is wrong; lines of this package would not.
            pytest.fail(str(report), pytrace=False)
        return report


@pytest.fixture
def conformance(request: pytest.FixtureRequest) -> Conformance:
    """Tests of anybody's implementation with the theory as the oracle."""
    algorithm: str | None = None
    options: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("fedtheory"))):
        algorithm = mark.args[0] if mark.args else algorithm
        options |= mark.kwargs
    return Conformance(algorithm, options)
