"""The pytest plugin: the fixture ``conformance`` and the mark ``fedtheory``.

Every pytest of an environment loads it: importing it imports nothing heavy, and nothing of
``verify``, a name that other packages have too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

# Where this package is, and where ``verify`` has to be.
_HOME = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark."""
    config.addinivalue_line(
        "markers",
        "fedtheory(algorithm=None, **options): options for the test's `conformance` fixture, such as "
        "fedtheory('scaffold', seed=3), fedtheory(d=200, omega=9) or fedtheory(level=1e-9)",
    )


class Conformance:
    """The fixture ``conformance``: tests of a compressor, an algorithm, a trace, or everything that a provider offers.

    Each returns its report, and fails the test if the implementation does not conform: with three lines of it, or with
    all where pytest runs with ``-vv``. Options of the mark ``fedtheory`` are those of the call, unless the call says
    otherwise.
    """

    def __init__(self, algorithm: str | None, options: dict[str, Any], verbose: bool = True) -> None:
        self._algorithm = algorithm
        self._options = options
        self._verbose = verbose

    def compressor(self, compress: Any, d: int | None = None, omega: Any = None, **options: Any) -> Any:
        """As ``verify.conformance.compressor``."""
        given = {"d": d, "omega": omega}
        named = {**self._options, **{k: v for k, v in given.items() if v is not None}, **options}
        if "alpha" in options:
            named.pop("omega", None)
        return self._run_test("compressor", compress, **named)

    def algorithm(self, name: str | None = None, **options: Any) -> Any:
        """As ``verify.conformance.algorithm``."""
        return self._run_test("algorithm", name or self._named(), **{**self._options, **options})

    def trace(self, path: Any, name: str | None = None, **options: Any) -> Any:
        """As ``fedtheory check-trace``."""
        return self._run_test("check_trace", name or self._named(), path, **{**self._options, **options})

    def battery(self, provider: Any, **options: Any) -> Any:
        """As ``verify.conformance.battery``."""
        return self._run_test("battery", provider, **{**self._options, **options})

    def _named(self) -> str:
        if self._algorithm is None:
            raise ValueError("which algorithm? name it in the call, or mark the test fedtheory('NAME')")
        return self._algorithm

    def _run_test(self, name: str, *args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        test = _tests(name)
        refused = ""
        try:
            report = test(*args, **options)
        except ValueError as error:
            # Arguments that make no sense, in one sentence.
            refused = str(error)
        if refused:
            # Outside of the handler, or pytest would print both errors.
            pytest.fail(refused, pytrace=False)
        if not report.ok:
            # The report says what is wrong; lines of this package would not.
            message = str(report) if self._verbose else f"{report.brief}\n     (the whole report: pytest -vv)"
            pytest.fail(message, pytrace=False)
        return report


def _tests(name: str) -> Callable[..., Any]:
    """A function of ``verify.conformance``; fails the test where another ``verify`` stands before it."""
    __tracebackhide__ = True
    try:
        package: Any = import_module("verify")
        ours = any(Path(place).resolve().parent == _HOME for place in getattr(package, "__path__", ()))
        found: Callable[..., Any] | None = getattr(import_module("verify.conformance"), name) if ours else None
    except ImportError as error:
        if (error.name or "verify").split(".")[0] != "verify":
            raise
        found = None
    if found is None:
        module = sys.modules.get("verify")
        place = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), "an unknown place")
        pytest.fail(
            f"another package or file called 'verify' ({place}) is imported instead of fedtheory's own: rename it, "
            "uninstall it, or run these tests in an environment of their own",
            pytrace=False,
        )
    return found


def _verbose(config: pytest.Config) -> bool:
    """Return True if pytest runs with ``-vv``, whatever an ini file or the environment adds to it, such as ``-q``."""
    asked = [word for word in config.invocation_params.args if isinstance(word, str)]
    counted = sum(word.count("v") for word in asked if re.fullmatch(r"-[vq]+", word)) + asked.count("--verbose")
    return max(config.get_verbosity(), counted) > 1


@pytest.fixture
def conformance(request: pytest.FixtureRequest) -> Conformance:
    """Tests of an implementation with the theory as the oracle."""
    algorithm: str | None = None
    options: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("fedtheory"))):
        algorithm = mark.args[0] if mark.args else algorithm
        options |= mark.kwargs
    return Conformance(algorithm, options, _verbose(request.config))
