"""The methods that the papers compare with: theorems of papers whose texts are not at hand, so that none of them is
called printed. By ids after "baseline"."""

from __future__ import annotations

#: On these rest rows of tables and lines of the four papers: FedDCD, Section 5; LoCoDL, Section 1.2, Tables 1 and 2;
#: Federated Optimization, eq. (5).
IMPLIED = (
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
)
#: Of these the four papers say nothing.
OBSERVED = (
    "dcgd/one-step",
    "gradient-descent/nonconvex",
    "saga/adaptive",
    "loopless-svrg/one-step",
    "gradskip/one-step",
    "gradskip/rate",
    "sdca/one-step",
    "sdca/duality-gap",
    # LoCoDL says of FedCOMGATE that it converges linearly; that no variance is too large for it is our question.
    "fedcomgate/limit",
)
