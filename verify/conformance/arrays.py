"""Arrays of any library, on any device, as numpy arrays.

By the array API standard: an array with ``__dlpack__`` is read on the processor, to which ``to_device`` moves it if
need be; torch's tensors are detached first, and have ``cpu`` for ``to_device``. Floats that numpy does not have, such
as bfloat16, become float32, which represents all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array


def as_numpy(value: Any) -> Array:
    """The value as a numpy array; raises whatever the library raises that cannot give one."""
    if isinstance(value, np.ndarray):
        return _widened(value)
    if hasattr(value, "detach"):
        value = value.detach()
    if not (hasattr(value, "__dlpack__") or hasattr(value, "__array_namespace__")):
        return np.asarray(value)
    try:
        return _widened(np.asarray(value))
    except Exception as error:
        # On another device, or of a type that numpy does not have.
        for moved in _on_the_processor(value):
            try:
                return _widened(np.asarray(moved if isinstance(moved, np.ndarray) else np.from_dlpack(moved)))
            except Exception:
                continue
        raise error


def _widened(array: Array) -> Array:
    """An array whose floats are of a type that another package registered with numpy, in float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" and np.can_cast(array.dtype, np.float32) else array


def _on_the_processor(value: Any) -> list[Any]:
    """What may be the same array on the processor, one try each."""
    found: list[Any] = [value]
    for name, arguments in (("to_device", ("cpu",)), ("cpu", ()), ("get", ())):
        found += _called(value, name, *arguments)
    if any(_called(value, "is_floating_point")):
        # torch's bfloat16, wherever it is.
        found += [wide for moved in list(found) for wide in _called(moved, "float")]
    return found


def _called(value: Any, name: str, *arguments: Any) -> list[Any]:
    """What a method gives; nothing where there is none, or where it raises."""
    method = getattr(value, name, None)
    try:
        return [method(*arguments)] if callable(method) else []
    except Exception:
        return []
