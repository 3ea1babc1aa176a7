"""The theory as the test oracle of compressors and algorithms in any framework."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.conformance.adapter import Client, client
    from verify.conformance.algorithms import algorithm
    from verify.conformance.calls import inputs
    from verify.conformance.compressors import compressor
    from verify.conformance.provider import battery
    from verify.conformance.report import ConformanceError, Failure, Report
    from verify.conformance.trace import check_trace
    from verify.conformance.trace_file import record

__all__ = [
    "Client",
    "ConformanceError",
    "Failure",
    "Report",
    "algorithm",
    "battery",
    "check_trace",
    "client",
    "compressor",
    "inputs",
    "record",
]

_HOMES = {
    "adapter": ("Client", "client"),
    "algorithms": ("algorithm",),
    "calls": ("inputs",),
    "compressors": ("compressor",),
    "provider": ("battery",),
    "report": ("ConformanceError", "Failure", "Report"),
    "trace": ("check_trace",),
    "trace_file": ("record",),
}


def __getattr__(name: str) -> Any:
    # The pytest plugin is loaded by every pytest of an environment, and must not load all of this.
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"verify.conformance.{module}"), name)
    raise AttributeError(f"module 'verify.conformance' has no attribute {name!r}")
