"""Vectors on which compressors go wrong."""

from __future__ import annotations

import numpy as np

from fedtheory.numbers.rational import Array
from verify.conformance.report import real_type

#: Inputs so small that their squares vanish: only the variance is tested there.
SUBNORMAL = "subnormal entries"
#: The input on which most samples are spent: many compressors have their least variance along it.
FLAT = "equal entries"


def inputs(d: int, seed: int = 0, dtype: str = "float64") -> dict[str, Array]:
    """Vectors ``(d,)`` by name; the same for the same arguments.

    Huge and tiny ones have squares within the range of the type, the subnormal one has not. ``ValueError`` unless
    d >= 1 and the type is a real floating one.
    """
    if not isinstance(d, int | np.integer) or d < 1:
        raise ValueError(f"a compressor acts on vectors of at least one entry, got d = {d}")
    kind = real_type(dtype)
    limits = np.finfo(kind)
    rng = np.random.default_rng([seed, d])
    gaussian, signs = rng.standard_normal(d), rng.choice([-1.0, 1.0], d)
    place = np.arange(d)
    few = rng.permutation(d)[: max(1, d // 10)]
    far = int(0.4 * float(limits.maxexp))
    near = np.where(place == d - 1, 0.99, 1.0)
    found = {
        FLAT: np.ones(d),
        "signs": signs,
        "Gaussian entries": gaussian,
        "one spike, first": (place == 0) * 3.0,
        "one spike, last": (place == d - 1) * -1.0,
        "sparse": np.where(np.isin(place, few), gaussian, 0.0),
        "powers of two": signs * 2.0 ** rng.integers(-3, 4, d),
        "4/3 of powers of two": 4 / 3 * signs * 2.0 ** rng.integers(-1, 2, d),
        "decaying": signs * 0.7 ** np.minimum(place, 40),
        "nearly equal": near,
        "huge": np.ldexp(gaussian, far),
        "tiny": np.ldexp(gaussian, -far),
    }
    typed = {name: np.asarray(x, dtype=kind) for name, x in found.items()}
    # Fourteen bits of each entry are left.
    least = round(float(np.log2(float(limits.smallest_subnormal))))
    whole = np.ldexp(signs * rng.integers(2**13, 2**14, d), least).astype(kind)
    return {**typed, SUBNORMAL: whole} if limits.nmant >= 23 else typed
