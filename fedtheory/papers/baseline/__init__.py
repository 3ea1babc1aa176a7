"""The methods that the papers compare with, each with its own paper's theorem.

Every module here that has ``CLAIMS`` is registered: a method with its theorem is a file of its own. The texts of their
papers are not at hand, so that none of them is called printed. Implied are those on which rows of tables and lines of
the four papers rest: FedDCD, Section 5; LoCoDL, Section 1.2, Tables 1 and 2; Federated Optimization, eq. (5). Observed
are those of which the four papers say nothing.
"""

from importlib import import_module
from pkgutil import iter_modules

from fedtheory.papers.baseline.rival_settings import glossary
from fedtheory.plugins import Paper

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
_CLAIMS = tuple(claim for module in _MODULES for claim in getattr(module, "CLAIMS", ()))
PAPER = Paper(
    "baseline",
    "The methods that the papers compare with, each with its own paper's theorem",
    _CLAIMS,
    glossary,
    {"rates": f"{__name__}.rates"},
    order=5,
)

__all__ = ["PAPER", "glossary"]
