"""The methods that the papers compare with, each with its own paper's theorem.

Every module here that has ``CLAIMS`` is registered: a method with its theorem is a file of its own. Its claims say
their ``origin`` themselves, or ``origins`` does.
"""

from importlib import import_module
from pkgutil import iter_modules

from fedtheory.claims import with_origins
from fedtheory.papers.baseline import origins
from fedtheory.papers.baseline.rivals import glossary
from fedtheory.plugins import Paper

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
_CLAIMS = tuple(claim for module in _MODULES for claim in getattr(module, "CLAIMS", ()))
PAPER = Paper(
    "baseline",
    "The methods that the papers compare with, each with its own paper's theorem",
    with_origins("baseline", _CLAIMS, {}, origins.IMPLIED, origins.OBSERVED),
    glossary,
    {"rates": f"{__name__}.rates"},
    order=5,
)

__all__ = ["PAPER", "glossary"]
