"""Messages of compressors, written bit by bit: LoCoDL, Section 4, says how long they are; here they are that long.

A message is a string of the characters 0 and 1. A receiver that knows the compressor (its d, k and scale) but not the
sender's randomness reads C(x) back in IEEE single precision, exactly.

What nine bits cannot say. A sign and an eight-bit exponent have 2 * 256 values. The exponent is biased by 127 as in
single precision: field e in 1, ..., 254 is 2^(e - 127), field 0 is zero, and field 255, which single precision keeps
for infinities, is not used. So zero and +-2^q for -126 <= q <= 127 are exact, and nothing else: no power of two below
2^-126 (single precision has those as subnormal numbers, but their exponent is in the fraction, which is not sent) and
none from 2^128 up, to which a number above 2^127 may be rounded. There an encoder has no unbiased choice left, so that
``encode`` refuses rather than flush to zero or saturate. Reals of 32 bits are rounded to single precision, subnormal
numbers included; those that overflow are refused too. omega and unbiasedness hold before that rounding, not after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.compressors import FLOAT_BITS, NATURAL_BITS, Compressor, Layout, index_bits
from fedtheory.numbers.rational import Array, to_float
from fedtheory.randomness import Draw

#: Exponents q of the powers of two that nine bits can say, and what is added to q before it is written.
LEAST_EXPONENT, LARGEST_EXPONENT, BIAS = -126, 127, 127


def encode(compressor: Compressor, draw: Draw, x: Array) -> str:
    """The message that carries C(x), for one vector ``x (d,)`` and one draw.

    Its length is ``compressor.bits``, except for the single bit by which a Bernoulli compressor says that it sends
    nothing. Raises ``ValueError`` for another shape, a compressor without a layout, and values that the message cannot
    express.
    """
    layout = _layout(compressor)
    if x.shape != (compressor.d,):
        raise ValueError(f"encode takes one vector of length {compressor.d}, got shape {x.shape}")
    value = to_float(compressor.apply(draw, x))
    if not np.isfinite(value).all():
        raise ValueError("a vector with entries that are not finite has no message")
    if layout.flag and not value.any():
        return "0"
    sent = range(compressor.d) if layout.entries == compressor.d else _coordinates(layout, value)
    return ("1" if layout.flag else "") + "".join(_entry(compressor, layout, j, value[j]) for j in sent)


def decode(compressor: Compressor, message: str) -> Array:
    """C(x) as ``(d,)`` in single precision. ``ValueError`` for a message that ``encode`` cannot have written."""
    layout, d = _layout(compressor), compressor.d
    out = np.zeros(d, dtype=np.float32)
    if layout.flag and message == "0":
        return out
    if len(message) != compressor.bits or set(message) - {"0", "1"}:
        raise ValueError(f"a message of {compressor.name} is {compressor.bits} bits, got {len(message)} characters")
    width = _width(compressor, layout)
    begin = int(layout.flag)
    for place in range(layout.entries):
        entry = message[begin + place * width : begin + (place + 1) * width]
        name, real = entry[: -layout.real], entry[-layout.real :]
        j = int(name or "0", 2) if layout.indexed else place
        if j >= d:
            raise ValueError(f"a message names coordinate {j} of a vector of length {d}")
        out[j] = _read(layout, real)
    return out


def _layout(compressor: Compressor) -> Layout:
    if compressor.layout is None:
        raise ValueError(f"no message format is known for {compressor.name}")
    return compressor.layout


def _width(compressor: Compressor, layout: Layout) -> int:
    return layout.real + (index_bits(compressor.d) if layout.indexed else 0)


def _coordinates(layout: Layout, value: Array) -> Array:
    """The coordinates to send, in increasing order: all that are not zero, and zeros until there are enough."""
    # A stable sort puts nonzero coordinates first; the receiver cannot tell which zeros were kept, nor need it.
    chosen = np.argsort(value == 0, kind="stable")[: layout.entries]
    return np.sort(chosen)


def _entry(compressor: Compressor, layout: Layout, j: int, value: object) -> str:
    name = index_bits(compressor.d) if layout.indexed else 0
    return (format(j, f"0{name}b") if name else "") + _write(layout, value)


def _write(layout: Layout, value: Any) -> str:
    """One real. Dividing by the scale is exact: times a power of two, its significand is rounded only once."""
    if layout.real == NATURAL_BITS:
        return _write_power(float(value) / float(layout.scale))
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if np.isinf(single):
        raise ValueError(f"{value:g} overflows single precision")
    return format(int(single.view(np.uint32)), f"0{FLOAT_BITS}b")


def _write_power(value: float) -> str:
    if value == 0:
        return "0" * NATURAL_BITS
    significand, exponent = np.frexp(abs(value))
    q = int(exponent) - 1
    if significand != 0.5:
        raise ValueError(f"{value:g} is not a power of two: {NATURAL_BITS} bits cannot express it")
    if not LEAST_EXPONENT <= q <= LARGEST_EXPONENT:
        raise ValueError(
            f"2^{q} is outside 2^{LEAST_EXPONENT}, ..., 2^{LARGEST_EXPONENT}: {NATURAL_BITS} bits cannot express it"
        )
    return ("1" if value < 0 else "0") + format(q + BIAS, "08b")


def _read(layout: Layout, real: str) -> Any:
    if layout.real != NATURAL_BITS:
        return np.uint32(int(real, 2)).view(np.float32)
    field = int(real[1:], 2)
    if field == 0:
        return np.float32(0)
    if field - BIAS > LARGEST_EXPONENT:
        raise ValueError(f"exponent field {field} does not encode a number")
    power = np.ldexp(-1.0 if real[0] == "1" else 1.0, field - BIAS)
    return np.float32(float(layout.scale) * power)
