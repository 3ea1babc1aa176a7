"""The methods that the papers compare with, each with its own paper's theorem.

Every module here that has ``CLAIMS`` is registered: a method with its theorem is a file of its own.
"""

from importlib import import_module
from pkgutil import iter_modules

from fedtheory.papers.baseline.rivals import glossary

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
CLAIMS = tuple(claim for module in _MODULES for claim in getattr(module, "CLAIMS", ()))

__all__ = ["CLAIMS", "glossary"]
