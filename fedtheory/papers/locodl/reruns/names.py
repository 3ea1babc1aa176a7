"""Names of the bits that LoCoDL's figures compare: methods, compressors, regimes, errors."""

from __future__ import annotations

#: The errors that methods are compared at, relative to that of x = 0.
TARGETS = (1e-2, 1e-4)
#: The regimes that figures show, by the number of clients.
FEW, MORE, MANY = "n < d", "n > d", "n > d^2"
BOTH, RAND_K, NATURAL, L1 = "rand-k natural", "rand-k", "natural", "l1-selection"
_KINDS = (BOTH, RAND_K, NATURAL, L1)
#: Methods with the compressors of which each is run; the others send what their name says.
COMPRESSED = {"LoCoDL": _KINDS, "ADIANA": (BOTH, RAND_K, NATURAL), "DIANA": (BOTH,), "5GCS-CC": (BOTH,)}
PLAIN = {"CompressedScaffnew": "permuted pattern", "GradSkip": "floats", "SCAFFOLD": "floats"}
RIVALS = (*tuple(COMPRESSED)[1:], *PLAIN)


def key(method: str, kind: str, regime: str, target: float) -> str:
    """The name of the bits of a method."""
    return f"{method} {kind}, {regime}, {target:g}:"


def names(method: str, kinds: tuple[str, ...], regime: str, target: float) -> tuple[str, ...]:
    """Those of a method with each of its compressors."""
    kinds = (PLAIN[method],) if method in PLAIN else kinds
    return tuple(key(method, kind, regime, target) for kind in kinds)
