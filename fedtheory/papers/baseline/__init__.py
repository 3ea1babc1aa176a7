"""The methods that the papers compare with, each with its own paper's theorem.

Every module here that has ``CLAIMS`` is registered: a method with its theorem is a file of its own. The texts of their
papers are not at hand, so that none of them is called printed; a claim says its ``origin`` itself, or it is told below.
"""

from importlib import import_module
from pkgutil import iter_modules

from fedtheory.claims import with_origins
from fedtheory.papers.baseline.rival_settings import glossary
from fedtheory.plugins import Paper

#: On these rest rows of tables and lines of the four papers: FedDCD, Section 5; LoCoDL, Section 1.2, Tables 1 and 2;
#: Federated Optimization, eq. (5).
_IMPLIED = (
    "gradient-descent/one-step",
    "saga/one-step",
    "sag/zero-table",
    "sag/centred-table",
    *(f"svrg/{part}" for part in ("one-step", "last-iterate")),
    *(f"diana/{part}" for part in ("invariant", "one-step", "rate")),
    *(f"ef21/{part}" for part in ("invariant", "one-step", "descent", "stepsize")),
    *(f"adiana/{part}" for part in ("invariant", "one-step")),
    *(f"scaffnew/{part}" for part in ("invariant", "one-step", "rate")),
    *(f"compressed-scaffnew/{part}" for part in ("invariant", "one-step", "rate")),
    *(f"5gcs-cc/{part}" for part in ("one-step", "rate")),
    "fedcomgate/invariant",
    *(f"mb-sgd/{part}" for part in ("one-step", "gap")),
    *(f"fedavg/{part}" for part in ("local-step", "drift", "gradients")),
    *(f"scaffold/{part}" for part in ("drift", "gradients", "turn")),
    "scaffold-sampled/one-step",
)
#: Of these the four papers say nothing.
_OBSERVED = (
    "dcgd/one-step",
    "gradient-descent/nonconvex",
    "saga/adaptive",
    "loopless-svrg/one-step",
    "gradskip/one-step",
    "gradskip/rate",
    *(f"sdca/{part}{of}" for part in ("one-step", "duality-gap") for of in ("", "/any-loss")),
    # LoCoDL says of FedCOMGATE that it converges linearly; that no variance is too large for it is our question.
    "fedcomgate/limit",
)

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
_CLAIMS = tuple(claim for module in _MODULES for claim in getattr(module, "CLAIMS", ()))
PAPER = Paper(
    "baseline",
    "The methods that the papers compare with, each with its own paper's theorem",
    with_origins("baseline", _CLAIMS, {}, _IMPLIED, _OBSERVED),
    glossary,
    {"rates": f"{__name__}.rates"},
    order=5,
)

__all__ = ["PAPER", "glossary"]
