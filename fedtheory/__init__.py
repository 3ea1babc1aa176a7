"""Executable theory of federated optimisation: what is claimed, about which method, on which problem.

The names below are all that a theorem of one's own needs; see docs/own-theorem.md. They load when they are used.
"""

from importlib import import_module
from typing import Any

_PUBLIC = {
    "algorithms.base": ("Algorithm", "method"),
    "claims": ("Claim", "compressor_claim"),
    "compressors": ("Compressor",),
    "settings.hypotheses": ("Hypothesis", "each"),
    "kinds.bound": ("Bound", "bound"),
    "kinds.compressor_class": ("CompressorClass",),
    "kinds.eventually": ("Eventually",),
    "kinds.fails": ("Fails",),
    "kinds.fixed_point": ("Stays",),
    "kinds.identity": ("Identity", "identity"),
    "kinds.inequality": ("Inequality", "inequality"),
    "kinds.invariant": ("Invariant",),
    "kinds.limit": ("Limit",),
    "kinds.one_step": ("OneStep", "contraction", "contracts", "one_step"),
    "kinds.order": ("Order",),
    "kinds.parameter_rule": ("ParameterRule",),
    "plugins": ("Paper",),
    "sections": ("section",),
    "settings.quantities": ("composite_gap", "distance", "gap", "heterogeneity"),
    "randomness": ("Bernoulli", "Constant", "Independent", "Permutation", "Product", "Uniform01", "UniformSubset"),
    "randomness.directions": ("Gaussian", "Sphere"),
    "randomness.participation": ("Categorical", "Coins"),
    "settings.relations": ("E", "Quantity"),
    "settings.whole_runs": ("at_average", "average", "minimum", "total"),
    "settings": ("Drawing", "Hints", "Setting"),
    "numbers.symbols": ("T", "d", "integers", "k", "letters", "n", "omega", "round_index"),
}
_WHERE = {name: module for module, names in _PUBLIC.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"fedtheory.{_WHERE[name]}"), name)
    # Classes of functions and compressors are listed once, where they are; a module's name would load them too early.
    if name == "__all__":
        return sorted((*_WHERE, *import_module("fedtheory.classes").PUBLIC))
    if name[:1].isupper() and name in (classes := import_module("fedtheory.classes")).PUBLIC:
        return getattr(classes, name)
    raise AttributeError(f"module 'fedtheory' has no attribute {name!r}")
