"""Arrays of anybody's library, on whatever device they are, as numpy's.

By the array API standard: what has ``__dlpack__`` is read on the processor, moved there by ``to_device`` if need be;
torch's tensors are detached first, and have ``cpu`` for ``to_device``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array


def as_numpy(value: Any) -> Array:
    """The value as a numpy array; raises whatever the library raises that cannot give one."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):
        value = value.detach()
    if not (hasattr(value, "__dlpack__") or hasattr(value, "__array_namespace__")):
        return np.asarray(value)
    try:
        return np.asarray(value)
    except Exception as error:
        # Elsewhere than on the processor, or of a type that asks for the standard's way.
        for moved in _on_the_processor(value):
            try:
                return np.asarray(moved if isinstance(moved, np.ndarray) else np.from_dlpack(moved))
            except Exception:
                continue
        raise error


def _on_the_processor(value: Any) -> list[Any]:
    """What may be the same array on the processor, one try each."""
    found: list[Any] = [value]
    for name, arguments in (("to_device", ("cpu",)), ("cpu", ()), ("get", ())):
        move = getattr(value, name, None)
        if callable(move):
            try:
                found.append(move(*arguments))
            except Exception:
                continue
    return found
