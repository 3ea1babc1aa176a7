"""Compressors, right and with one slip each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fedtheory import compressors
from fedtheory.compressors import contractive

D, K = 20, 5
OMEGA = D / K - 1
SAMPLES = 12_000


class Fresh(NamedTuple):
    """A compressor with a memory, made anew for each test: the tests of another one would have used it."""

    make: Callable[[], Any]


def rand_k(x, rng):
    value, kept = np.zeros_like(x), rng.permutation(x.size)[:K]
    value[kept] = x[kept] * (x.size / K)
    return value


def natural(x, rng):
    exponent = np.frexp(np.where(x == 0, 1, x))[1]
    low = np.ldexp(0.5, exponent)
    up = rng.random(x.shape) < abs(x) / low - 1
    return np.where(x == 0, 0, np.sign(x) * np.where(up, 2 * low, low))


def bernoulli(x, rng):
    return 2 * x if rng.random() < 0.5 else 0 * x


def qsgd(x, rng, levels=4):
    norm = np.sqrt((x / max(abs(x).max(), 1e-320)) @ (x / max(abs(x).max(), 1e-320))) * abs(x).max()
    if norm == 0:
        return 0 * x
    level = abs(x) / norm * levels
    return np.sign(x) * norm / levels * (np.floor(level) + (rng.random(x.shape) < level - np.floor(level)))


def top_k(x, rng, k=K):
    value, kept = np.zeros_like(x), np.argsort(-abs(x), kind="stable")[:k]
    value[kept] = x[kept]
    return value


def rounded(x, rng, levels=127, dither=0.5):
    """Levels of int8, or of other numbers of bits, with random bits that are uniform within ``dither`` of a level."""
    step = abs(x).max() / levels
    return np.round(x / step + rng.uniform(-dither, dither, x.shape)) * step if step else 0 * x


def nearest(x, levels=127):
    return rounded(x, np.random.default_rng(0), levels, 0.0)


def omega_of(levels):
    """QSGD's variance."""
    return min(D / levels**2, D**0.5 / levels)


def power_iteration(x, rng):
    M = x.reshape(4, -1)
    p = M @ rng.standard_normal((M.shape[1], 1))
    p = p / (np.linalg.norm(p) or 1.0)
    return (p @ (p.T @ M)).ravel()


def seldom_mended(x, rng, chance=0.01):
    """The nearest levels, and seldom so much more that the mean is x: as many equal values as a variance allows."""
    near = nearest(x, 7)
    return near + (x - near) * (rng.random() < chance) / chance


def rows(X, rng):
    return np.stack([rand_k(x, rng) for x in X])


RIGHT = {
    "rand-k": (rand_k, {"omega": OMEGA}),
    "natural": (natural, {"omega": 1 / 8}),
    "bernoulli": (bernoulli, {"omega": 1.0}),
    "qsgd": (qsgd, {"omega": min(D / 16, D**0.5 / 4)}),
    "top-k": (top_k, {"alpha": K / D}),
    "rand-k, scaled": (lambda x, rng: rand_k(x, rng) * K / D, {"alpha": K / D}),
    "rows": (rows, {"omega": OMEGA, "batch": True}),
    "float32": (lambda x, rng: rand_k(x.astype(np.float32), rng), {"omega": OMEGA}),
    "float32 inputs": (rand_k, {"omega": OMEGA, "dtype": "float32"}),
    "identity, of one argument": (lambda x: x, {"omega": 0}),
    "a list": (lambda x, rng: rand_k(x, rng).tolist(), {"omega": OMEGA}),
    "two clients": ([rand_k, rand_k], {"omega": OMEGA}),
    "int8": (rounded, {"omega": omega_of(127)}),
    "four levels, dithered": (lambda x, rng: rounded(x, rng, 4), {"omega": omega_of(4)}),
    "textbook qsgd": (lambda x, rng: qsgd(x, rng, 127), {"omega": omega_of(127)}),
    "power iteration": (power_iteration, {"alpha": 1 / 5}),
    "levels, seldom mended": (seldom_mended, {"omega": 99 * D / 14**2}),
    "hardly ever anything": (lambda x, rng: x * 2000.0 * (rng.random() < 1 / 2000), {"omega": 1999}),
    "all entries": (lambda x, rng: rand_k(x, rng) if x[0] > 1e300 else x, {"omega": OMEGA}),
    "subnormal numbers flushed": (lambda x, rng: np.where(abs(x) < 1e-300, 0, natural(x, rng)), {"omega": 1 / 8}),
    "the package's": (compressors.rand_k_natural(D, K), {}),
    "the package's top-k": (contractive.top_k(D, K), {}),
}


def shared_rows(X, rng):
    kept = rng.permutation(X.shape[1])[:K]
    value = np.zeros_like(X)
    value[:, kept] = X[:, kept] * (X.shape[1] / K)
    return value


def in_place(x, rng):
    x *= 2 * (rng.random(x.shape) < 0.5)
    return x


def with_replacement(x, rng):
    value, kept = np.zeros_like(x), rng.integers(0, x.size, K)
    value[kept] = x[kept] * (x.size / K)
    return value


def never_the_last(x, rng):
    value, kept = np.zeros_like(x), rng.permutation(x.size - 1)[:K]
    value[kept] = x[kept] * (x.size / K)
    return value


def reused():
    buffer = np.zeros(D)

    def compress(x, rng):
        buffer[:] = rand_k(x, rng)
        return buffer

    return compress


def round_robin():
    turn = [0]

    def compress(x, rng):
        kept = (np.arange(K) + K * turn[0]) % x.size
        turn[0] += 1
        value = np.zeros_like(x)
        value[kept] = x[kept] * (x.size / K)
        return value

    return compress


def cycling(lag):
    """The masks of the first ``lag`` calls, over and over."""

    def make():
        drawn = []

        def compress(x, rng):
            if len(drawn) < lag:
                drawn.append(rng.permutation(x.size)[:K])
            kept = drawn[0]
            drawn.append(drawn.pop(0))
            value = np.zeros_like(x)
            value[kept] = x[kept] * (x.size / K)
            return value

        return compress

    return Fresh(make)


def in_turn():
    """Coordinates are shuffled once for all of them to be sent, as examples are in epochs."""
    left = []

    def compress(x, rng):
        if not left:
            left.extend(rng.permutation(x.size))
        value = np.zeros_like(x)
        kept = [left.pop() for _ in range(K)]
        value[kept] = x[kept] * (x.size / K)
        return value

    return compress


def if_large(x, rng):
    return rand_k(x, rng) * (1.5 if 100 < np.sqrt(x @ x) < 1e6 else 1)


def first_rows_scale(X, rng):
    """All rows are rounded to multiples of what the first one is made of."""
    unit = abs(X[0]).max() or 1.0
    low = np.floor(X / unit)
    return unit * (low + (rng.random(X.shape) < X / unit - low))


def seeded(seed):
    own = np.random.default_rng(seed)
    return lambda x, rng: rand_k(x, own)


def one_dither(rng):
    dither = rng.uniform(-0.5, 0.5, D)
    return lambda x: np.round(x / (abs(x).max() / 127 or 1.0) + dither) * abs(x).max() / 127


def inverted(x, rng):
    """int8 as frameworks have it: the inverse of the step overflows where entries are subnormal."""
    if not x.any():
        return 0 * x
    level = x * (127 / abs(x).max())
    return 1.02 * np.floor(level + rng.random(x.shape)) * (abs(x).max() / 127)


def made(compress):
    return compress.make() if isinstance(compress, Fresh) else compress


#: The compressor, its claim, and what the first failure must speak of.
WRONG = {
    "1 % too large": (lambda x, rng: 1.01 * rand_k(x, rng), {"omega": OMEGA}, "1.01"),
    "1 % too small": (lambda x, rng: 0.99 * rand_k(x, rng), {"omega": OMEGA, "samples": 120_000}, "too small"),
    "natural, 1 % too large": (
        lambda x, rng: 1.01 * natural(x, rng),
        {"omega": 1 / 8, "samples": 24_000},
        "too large",
    ),
    "seeded anew": (lambda x, rng: rand_k(x, np.random.default_rng(0)), {"omega": OMEGA}, "seeded anew at every call"),
    "in place": (in_place, {"omega": 1.0}, "in place"),
    "shared by all rows": (shared_rows, {"omega": OMEGA, "batch": True}, "one draw is shared by all rows"),
    "clients seeded alike": (Fresh(lambda: [seeded(1), seeded(1)]), {"omega": OMEGA}, "seeded alike"),
    "with replacement": (with_replacement, {"omega": OMEGA}, "too small"),
    "never the last": (never_the_last, {"omega": OMEGA}, "never anything but 0"),
    "negative inputs lost": (
        lambda x, rng: 0 * x if (x < 0).all() else rand_k(x, rng),
        {"omega": OMEGA},
        "on negative entries",
    ),
    "large inputs scaled": (if_large, {"omega": OMEGA}, "entries are about 2^"),
    "masks at lag 5": (cycling(5), {"omega": OMEGA}, "two successive calls, 5 apart"),
    "masks at lag 400": (cycling(400), {"omega": OMEGA}, "two successive calls, 400 apart"),
    "coordinates in turn": (Fresh(in_turn), {"omega": OMEGA}, "two successive calls"),
    "the scale of the first row": (first_rows_scale, {"omega": D / 4, "batch": True}, "entries are about 2^"),
    "identity in four bits": (lambda x, rng: x, {"omega": 0, "bits": 4}, "can tell 16 apart"),
    "identity in sixteen bits": (lambda x, rng: x, {"omega": 0, "bits": 16}, "were the same"),
    "round robin": (Fresh(round_robin), {"omega": OMEGA}, "successive calls"),
    "one buffer": (Fresh(reused), {"omega": OMEGA}, "a later call changes"),
    "omega too small": (rand_k, {"omega": 0.9 * OMEGA}, "times as much"),
    "k - 1 entries": (lambda x, rng: top_k(x, rng, K - 1), {"alpha": K / D}, "times as much"),
    "biased, claimed unbiased": (top_k, {"omega": OMEGA}, "not x"),
    "0/0 at zero": (lambda x, rng: rand_k(x, rng) * (x @ x) / (x @ x), {"omega": OMEGA}, "gives nan on zeros"),
    "subnormal numbers tripled": (
        lambda x, rng: np.where(abs(x) < 1e-300, 3, 1) * natural(x, rng),
        {"omega": 1 / 8},
        "pass skip=['subnormal entries'], or a tolerance",
    ),
    "int8, to the nearest": (lambda x, rng: nearest(x), {"omega": omega_of(127)}, "gives the same value at all"),
    "int4, to the nearest": (lambda x, rng: nearest(x, 7), {"omega": omega_of(7)}, "gives the same value at all"),
    "int8, towards 0": (
        lambda x, rng: nearest(np.sign(x) * np.maximum(abs(x) - abs(x).max() / 254, 0)),
        {"omega": omega_of(127)},
        "not x",
    ),
    "bits cut off": (
        lambda x, rng: (x.view(np.uint64) & np.uint64(2**64 - 2**45)).view(np.float64),
        {"omega": 2.0**-16},
        "must be |x|^2",
    ),
    "nearest power of two": (
        lambda x, rng: np.where(x == 0, 0, np.sign(x) * np.exp2(np.round(np.log2(abs(x) + (x == 0))))),
        {"omega": 1 / 8},
        "not x",
    ),
    "signs": (lambda x, rng: np.sign(x) * abs(x).mean(), {"omega": D - 1, "samples": 60_000}, "not x"),
    "dithered by half": (
        lambda x, rng: rounded(x, rng, dither=0.25),
        {"omega": omega_of(127), "samples": 45_000},
        "lean one way",
    ),
    "one dither for all calls": (
        Fresh(lambda: one_dither(np.random.default_rng(5))),
        {"omega": omega_of(127)},
        "gives the same value at all",
    ),
    "nine times of ten to the nearest": (
        lambda x, rng: rounded(x, rng) if rng.random() < 0.1 else nearest(x),
        {"omega": omega_of(127), "samples": 24_000},
        "lean one way",
    ),
    "int8, some entries to the nearest": (
        lambda x, rng: np.where(np.arange(x.size) < 0.8 * D, nearest(x), rounded(x, rng)),
        {"omega": omega_of(127), "samples": 24_000},
        "lean one way",
    ),
    "int8, 2 % too large": (inverted, {"omega": omega_of(127)}, "too large"),
    "another shape": (lambda x, rng: rand_k(x, rng)[None], {"omega": OMEGA}, "shape"),
    "complex": (lambda x, rng: rand_k(x, rng) * (1 + 0j), {"omega": OMEGA}, "complex"),
    "raises": (lambda x, rng: rng.normal_(x), {"omega": OMEGA}, "normal_"),
    "nothing": (lambda x, rng: None, {"omega": OMEGA}, "shape"),
    "two bits": (rand_k, {"omega": OMEGA, "bits": 2}, "can tell 4 apart"),
    "long messages": (lambda x, rng: (rand_k(x, rng), 200), {"omega": OMEGA, "bits": 185}, "200 bits"),
}
