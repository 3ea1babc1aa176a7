"""A compressor under test: what is tested of it, and what each call of it must keep to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.base.plain import counted
from verify.conformance.adapter import as_numpy
from verify.conformance.report import Failure, raised, real_type, rounding_of

#: ``compress(x, rng)`` for one vector or, in the batch form, for the rows of a matrix.
Compress = Callable[..., Any]

#: Inputs so small that their squares vanish: only the variance is tested there.
SUBNORMAL = "subnormal entries"
#: Inputs that code may not be made for: a failure there does not keep it from being tested elsewhere.
EXTREME = ("huge", "tiny", SUBNORMAL)
#: NaN and infinite entries, as what can be skipped.
SPECIAL = "special values"
#: The rounding of subnormal entries, relative to their size; with a larger tolerance they are not tested.
COARSE = 2.0**-12
#: The input on which most samples are spent: many compressors have their least variance along it.
FLAT = "equal entries"
#: The input at which calls are compared.
PAIRED = "Gaussian entries"
#: The share of the calls with equal entries.
FLAT_SHARE = 0.3
#: The share of the calls with inputs of all sizes.
SIZE_SHARE = 0.2
#: The share of the calls that are compared in pairs.
PAIR_SHARE = 0.05
#: The share of the calls along the direction of the bias.
LEAN_SHARE = 0.1
#: Entries of values held at once.
AT_ONCE = 1_000_000
#: Rows of one call in batches.
BATCH = 256
# Values of each client whose precision is looked at.
_PRECISE = 8

#: The claims that a compressor may break.
UNBIASED = "locodl/eq-2"
VARIANCE = "locodl/eq-2"
INDEPENDENT = "locodl/eq-3/independent"
CONTRACTION = "compressor/contraction"


def inputs(d: int, seed: int = 0, dtype: str = "float64") -> dict[str, Array]:
    """Return the vectors on which compressors are tested, by name; the same for the same arguments.

    Huge and tiny ones have squares within the range of the type, the subnormal one has not. Beside the spike of the
    last one the others are small, and together as long: rounding to the nearest of the levels that the spike sets
    has there its largest error for its size.

    Args:
        d: The dimension.
        seed: The seed of the random ones.
        dtype: The type of their entries.

    Returns:
        The vectors ``(d,)``, by name.

    Raises:
        ValueError: Unless d >= 1 and the type is a real floating one.

    Examples:
        >>> inputs(3)["equal entries"]
        array([1., 1., 1.])
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
        "negative entries": -(0.5 + rng.random(d)),
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
    if d > 1:
        # Code that divides by the sum, or takes entries for sorted.
        found["increasing, of sum 0"] = place - (d - 1) / 2
    typed = {name: np.asarray(x, dtype=kind) for name, x in found.items()}
    # Fourteen bits of each entry are left.
    least = round(float(np.log2(float(limits.smallest_subnormal))))
    whole = np.ldexp(signs * rng.integers(2**13, 2**14, d), least).astype(kind)
    if limits.nmant >= 23:
        typed[SUBNORMAL] = whole
    beside = np.where(place == 0, 1.0, signs * rng.uniform(0.2, 1.0, d) / np.sqrt(d))
    return {**typed, "a spike beside small entries": beside.astype(kind)}


class BadCall(Exception):
    """The interface is not what was agreed; holds the failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.evidence)
        self.failure = failure


@dataclass(frozen=True)
class Test:
    """The subject of a test: ``calls``: one compressor for each client; ``factor``: omega, or 1 - alpha if
    ``contractive``; ``range``: the type whose range the inputs stay within; ``skipped``: inputs that are left out;
    ``frozen``: whether all values at one input seem to be equal; ``kind``: the type of the values, where it is known.
    """

    calls: tuple[Compress, ...]
    d: int
    factor: float
    contractive: bool
    batch: bool
    bits: int | None
    seed: int
    level: float
    tolerance: float
    dtype: str
    range: str
    bound: float
    samples: int
    skipped: tuple[str, ...] = ()
    frozen: bool = False
    kind: np.dtype[Any] | None = None

    @property
    def vectors(self) -> dict[str, Array]:
        """The inputs, within the range of the values' type."""
        found = {name: x.astype(self.dtype) for name, x in inputs(self.d, self.seed, self.range).items()}
        # Types as coarse as bfloat16 have no subnormal numbers.
        coarse = {SUBNORMAL} if self.tolerance > COARSE else set()
        return {name: x for name, x in found.items() if name not in {*self.skipped, *coarse}}

    @property
    def constant(self) -> str:
        """The constant of the class, in words."""
        return f"alpha = {1 - self.factor:.4g}" if self.contractive else f"omega = {self.factor:.4g}"

    def of_client(self, client: int) -> str:
        """Whose values they are, where there are several clients."""
        return f" of client {client + 1}" if len(self.calls) > 1 else ""

    def replay(self, name: str | None = None) -> str:
        """Code that runs the test again; with the name of an input, that names its vector too."""
        given = f"alpha={round(1 - self.factor, 15)!r}" if self.contractive else f"omega={self.factor!r}"
        batch = ", batch=True" if self.batch else ""
        again = f"conformance.compressor(compress, d={self.d}, {given}, seed={self.seed}{batch})"
        if name is None:
            return again
        return f"x = conformance.inputs({self.d}, {self.seed}, {self.range!r})[{name!r}]\n{again}"


class Sums(NamedTuple):
    """Sums over n values of C(x)/scale: ``mean (d,)``, ``variance (d,)``, whether all were the same, the first."""

    n: int
    mean: Array
    variance: Array
    same: bool
    first: Array
    kept: Array


class CheckResult(NamedTuple):
    """The result of a check: failures, the names of the checks done, the smallest defects it ``detects``, and notes."""

    failures: tuple[Failure, ...] = ()
    checked: tuple[str, ...] = ()
    detects: Mapping[str, float] = {}
    notes: tuple[str, ...] = ()


def generator(test: Test, *purpose: int) -> np.random.Generator:
    """A generator of the test's seed, one for each ``purpose``."""
    return np.random.default_rng([test.seed, *purpose])


def called(test: Test, client: int, x: Array, rng: np.random.Generator, name: str) -> tuple[Array, int | None]:
    """Return the compressor's output for an array, as an array of the same shape, and the length of its message."""
    try:
        value = test.calls[client](x, rng)
    except Exception as error:
        text = f"{raised(error)}, on {name}, given an array of shape {x.shape}"
        raise BadCall(Failure("interface/raises", "compress", text, test.replay(name))) from None
    if type(value) is np.ndarray and value.dtype == test.kind and value.shape == x.shape:
        # As nearly all are: hundreds of thousands.
        return value, None
    length = None
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[1]) == 0 and _shape(value[0]) == x.shape:
        value, length = value[0], int(value[1])
    try:
        array = as_numpy(value)
    except Exception as error:
        text = f"returns a {type(value).__name__} that numpy does not take ({raised(error)})"
        raise BadCall(Failure("interface/value", "compress", text, test.replay(name))) from None
    if array.shape == () and not isinstance(value, int | float | np.generic | np.ndarray):
        text = f"returns {'None' if value is None else f'a {type(value).__name__}'}, not an array of shape {x.shape}"
        raise BadCall(Failure("interface/value", "compress", text, test.replay(name)))
    if array.shape != x.shape:
        text = f"turns an array of shape {x.shape} into one of shape {array.shape}, on {name}"
        raise BadCall(Failure("interface/shape", "compress", text, test.replay(name)))
    if array.dtype.kind not in "fiub":
        text = f"returns entries of type {array.dtype}, not real numbers"
        raise BadCall(Failure("interface/dtype", "compress", text, test.replay(name)))
    checked(test, array, name)
    return array, length


def _shape(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", None)
    return np.shape(value) if shape is None else tuple(shape)


def checked(test: Test, array: Array, name: str) -> None:
    """Raises what is wrong with the type of a value."""
    other = array.dtype.kind == "f" or array.any()
    if other and test.kind not in (None, array.dtype):
        text = f"returns entries of type {array.dtype} on {name}, and of type {test.kind} before: the type is not fixed"
        raise BadCall(Failure("interface/dtype", "compress", text, test.replay(name)))


def shaped(test: Test, x: Array) -> Array:
    """A copy of ``x (d,)`` as the compressor takes it: in batches as two equal rows ``(2, d)``."""
    return np.tile(x, (2, 1)) if test.batch else x.copy()


def check_interface(test: Test) -> dict[str, Failure]:
    """A few values for each input; raises what is wrong with shapes, types, zeros, finiteness and changes in place.

    What is wrong on extreme inputs alone is returned, by the input.
    """
    vectors = {"zeros": np.zeros(test.d, test.dtype), **test.vectors}
    extreme: dict[str, Failure] = {}
    for client in range(len(test.calls)):
        rng = generator(test, 1, client)
        earlier: list[tuple[Array, Array]] = []
        for name, x in vectors.items():
            try:
                for _ in range(4):
                    _check_call(test, client, name, x, rng, earlier)
            except BadCall as broken:
                if name not in EXTREME:
                    raise
                extreme.setdefault(name, avoidable(broken.failure, name))
        _check_memory(test, client)
    return extreme


def _check_call(
    test: Test, client: int, name: str, x: Array, rng: np.random.Generator, earlier: list[tuple[Array, Array]]
) -> None:
    """Raises what is wrong with a call; ``earlier``: what others returned, and what it was then."""
    given = shaped(test, x)
    before = given.copy()
    value, _ = called(test, client, given, rng, name)
    earlier.append((value, value.copy()))
    if not np.array_equal(given, before):
        text = f"changes its input in place, on {name}: the caller's vector is not what it was"
        raise BadCall(Failure("interface/in-place", "compress", text, test.replay(name)))
    _check_finite(test, value, name)
    if name == "zeros" and value.any():
        text = f"C(0) has an entry {value[value != 0][0]:.3g}, and must be 0: its variance is at most 0"
        raise BadCall(Failure(_id(test), "compress", text, test.replay()))
    called(test, client, shaped(test, x), rng, name)
    if not all(np.array_equal(*pair) for pair in earlier[-8:]):
        text = "does not leave what it returned alone: a later call changes what an earlier one returned"
        raise BadCall(Failure("interface/aliased", "compress", text, test.replay(name)))


def avoidable(failure: Failure, name: str) -> Failure:
    """The failure at an extreme input, with how to leave such inputs out."""
    hint = f"if it need not take such numbers, pass skip=[{name!r}]"
    if name == SUBNORMAL:
        hint += f", or a tolerance above {COARSE:.2g}"
    return replace(failure, evidence=f"{failure.evidence}; {hint}")


# Calls on a vector (0) and on one with gaps between its entries (1): in no order that what keeps count could have.
_ORDER = (0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1)


def _check_memory(test: Test, client: int) -> None:
    """Raises if a value depends on how its input lies in memory by more than rounding, which does so in libraries of
    linear algebra, and where the generator alone decides it otherwise."""
    name = PAIRED
    x = shaped(test, test.vectors[name])
    # Every second entry of a longer array, with others between them.
    apart = np.repeat(x, 2, axis=-1)
    apart[..., 1::2] *= -3
    values = [
        called(test, client, apart[..., ::2] if gaps else x.copy(), generator(test, 2, client), name)[0].copy()
        for gaps in _ORDER
    ]
    first = {gaps: values[_ORDER.index(gaps)] for gaps in (0, 1)}
    settled = all(np.array_equal(value, first[gaps]) for value, gaps in zip(values, _ORDER, strict=True))
    near = test.tolerance * float(abs(first[0].astype(float)).max(initial=0) + abs(x).max())
    if settled and not (abs(first[0].astype(float) - first[1]) <= near).all():
        text = "gives other values where the entries have gaps between them in memory: it does not keep to the strides"
        raise BadCall(Failure("interface/strides", "compress", text, test.replay(name)))


def _check_finite(test: Test, value: Array, name: str) -> None:
    if not np.isfinite(value).all():
        text = f"gives {value[~np.isfinite(value)][0]} on {name}, all of whose entries are finite"
        raise BadCall(Failure(_id(test), "compress", text, test.replay(name)))


def _id(test: Test) -> str:
    return CONTRACTION if test.contractive else VARIANCE


def typed(test: Test, tolerance: float | None) -> Test:
    """The test with the range and the tolerance of the type that the values have."""
    rng, name = generator(test, 0), PAIRED
    found = [
        called(test, client, shaped(test, test.vectors[name]), rng, name)[0].copy()
        for _ in range(32)
        for client in range(len(test.calls))
    ]
    kind = max((v.dtype for v in found), key=lambda k: k.kind == "f")
    test = replace(
        test,
        frozen=all(np.array_equal(v, found[0]) for v in found),
        kind=kind if kind.kind == "f" else None,
    )
    for value in found:
        checked(test, value, name)
    if kind.kind != "f":
        return test
    narrow = min(kind, np.dtype(test.dtype), key=lambda k: np.finfo(k).maxexp)
    rounding = rounding_of(kind) if tolerance is None else tolerance
    return replace(test, range=str(narrow), tolerance=max(test.tolerance, rounding))


def sampled(test: Test, client: int, x: Array, rng: np.random.Generator, n: int, name: str) -> Array:
    """n values of C(x), ``(n, d)``."""
    return valued(test, client, [x] * n, rng, name)


def valued(test: Test, client: int, rows: Sequence[Array] | Array, rng: np.random.Generator, name: str) -> Array:
    """A value of C(x) for each row x, ``(n, d)``; in the batch form many rows at once."""
    n = len(rows)
    out = np.empty((n, test.d))
    if test.batch:
        for start in range(0, n, BATCH):
            given = np.array(rows[start : start + BATCH])
            out[start : start + BATCH] = called(test, client, given, rng, name)[0]
        _check_finite(test, out, name)
        return out
    for i, x in enumerate(rows):
        value, length = called(test, client, x, rng, name)
        out[i] = value
        if length is not None and test.bits is not None and length > test.bits:
            text = f"a message of {counted(length, 'bit')}, on {name}; {test.bits} are claimed"
            raise BadCall(Failure("locodl/eq-2/bits", "bits", text, test.replay(name)))
    _check_finite(test, out, name)
    return out


# Bits of an entry that has all those of float32; of coarser values, as those of a quantiser, hardly any has so many.
_SINGLE = 20


def shared_or_coarse(test: Test) -> tuple[str, ...]:
    """The notes of values that share the memory of the input, and of values that were computed in float32."""
    x = test.vectors[PAIRED]
    shared, fine, all_single = False, 0, True
    entries = 0
    for client in range(len(test.calls)):
        for _ in range(_PRECISE):
            given = shaped(test, x)
            value, _ = called(test, client, given, generator(test, 8, client), PAIRED)
            shared |= np.may_share_memory(value, given) and np.shares_memory(value, given)
            found = np.asarray(value, dtype=float)[np.nonzero(value)]
            all_single &= bool((found == found.astype(np.float32)).all())
            bits = np.ldexp(np.frexp(found)[0], _SINGLE)
            fine, entries = fine + int((bits != np.rint(bits)).sum()), entries + found.size
    notes: tuple[str, ...] = ()
    if shared:
        notes += ("C(x) is x itself, or shares its memory: a later change of one changes the other",)
    if x.dtype.itemsize > 4 and all_single and 2 * fine > entries:
        notes += (f"values for {x.dtype} have the precision of float32: dtype='float32' stays within its range",)
    return notes


def reproducible(test: Test) -> tuple[str, ...]:
    """The note of a compressor whose values the generator that it is given does not decide."""
    x = test.vectors[PAIRED]
    pair = [sampled(test, 0, x, generator(test, 7), 16, PAIRED) for _ in range(2)]
    if np.array_equal(pair[0], pair[1]):
        return ()
    return ("the generator given does not decide the values: runs cannot be repeated by their seed",)
