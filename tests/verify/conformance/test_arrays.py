"""Arrays on other devices, of libraries that keep to the array API standard, and of torch's kind."""

from __future__ import annotations

import numpy as np
import pytest
from implementations import fedavg
from planted_compressors import OMEGA, D, rand_k

from verify import conformance
from verify.conformance.adapter import as_numpy


class Elsewhere:
    """An array that numpy cannot read where it is; ``move``: the name of what brings it to the processor."""

    def __init__(self, value, move="to_device", far=True):
        self._value, self._far, self.shape, self.dtype = np.asarray(value), far, np.shape(value), "float64"
        if move is not None:
            setattr(self, move, lambda device="cpu": Elsewhere(self._value, None, far=False))

    def __array_namespace__(self, api_version=None):
        return np

    def __array__(self, *arguments, **options):
        raise TypeError("arrays are not converted implicitly: move them to the host first")

    def __dlpack_device__(self):
        return (2, 0) if self._far else self._value.__dlpack_device__()

    def __dlpack__(self, **options):
        if self._far:
            raise BufferError("the array is not on the processor")
        return self._value.__dlpack__(**options)


@pytest.mark.parametrize("move", ["to_device", "cpu"])
def test_what_is_elsewhere_is_moved(move):
    x = np.arange(6.0).reshape(2, 3)
    assert (as_numpy(Elsewhere(x, move)) == x).all()
    assert (as_numpy(Elsewhere(x, None, far=False)) == x).all()


def test_what_cannot_be_moved_is_told_by_its_own_error():
    with pytest.raises(TypeError, match="move them to the host"):
        as_numpy(Elsewhere(np.ones(2), None))


def test_a_compressor_on_another_device():
    assert conformance.compressor(lambda x, rng: Elsewhere(rand_k(x, rng)), D, OMEGA, samples=3000).ok
    report = conformance.compressor(lambda x, rng: Elsewhere(rand_k(x, rng), None), D, OMEGA, samples=3000)
    assert "move them to the host" in report.failures[0].evidence


def test_a_loop_on_another_device():
    def run(problem, params, rounds, rng):
        return [Elsewhere(x) for x in fedavg(problem, params, rounds, rng)]

    assert conformance.algorithm("fedavg", run=run, keep=lambda problem, params: problem.n == 2).ok


class Half:
    """As torch has a bfloat16: numpy takes it in float32 only."""

    def __init__(self, value, real=True):
        self._value, self._real = value, real

    def __dlpack__(self, **options):
        raise BufferError("no such type")

    def __array__(self, *arguments, **options):
        raise TypeError("unsupported type")

    def is_floating_point(self):
        return self._real

    def float(self):
        return self._value.real.astype(np.float32)


def test_floats_that_numpy_does_not_have_are_widened():
    assert as_numpy(Half(np.ones(2))).dtype == np.float32
    # A complex number is not what its real part is.
    with pytest.raises(TypeError, match="unsupported"):
        as_numpy(Half(1j * np.ones(2), real=False))


def test_values_as_coarse_as_bfloat16_with_a_tolerance_to_match():
    def compress(x, rng):
        bits = rand_k(x, rng).astype(np.float32).view(np.uint32)
        return (bits + 0x8000 & 0xFFFF0000).view(np.float32)

    assert conformance.compressor(compress, D, OMEGA, samples=3000, tolerance=1e-2, dtype="float32").ok
    assert not conformance.compressor(compress, D, OMEGA, samples=3000, dtype="float32").ok
