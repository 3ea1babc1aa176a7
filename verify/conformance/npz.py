"""Arrays by name, from an untrusted npz file.

What the file says of its sizes is compared with what it holds, and bounded, before anything is made of it; objects are
never unpickled.
"""

from __future__ import annotations

import io
import math
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from verify.base.plain import quoted

#: The most arrays in a file.
MOST = 1000
#: The most bytes of all arrays of a file, unpacked.
BYTES = 2**30
#: Characters of a text.
TEXT = 1000
#: JSON's names of the kinds of numbers.
_TYPES = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}
#: As numpy writes them: as they are, or deflated.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read(path: Path) -> dict[str, Any]:
    """The arrays of the file: booleans, integers, float64, and texts as ``str``; what has no axes as a scalar.

    Raise ``ValueError`` with one sentence that names the file if it cannot be read, and for more or larger
    arrays than there may be.
    """
    found: dict[str, Any] = {}
    left = BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MOST:
                raise ValueError(f"it has {len(members)} parts, at most {MOST} were expected")
            for member in members:
                name = member.filename.removesuffix(".npy")
                if member.compress_type not in _PACKED or name in found:
                    raise ValueError(f"the part {quoted(name)} is there twice, or not packed as numpy does it")
                with archive.open(member) as file:
                    content = file.read(left + 1)
                if len(content) > left:
                    raise ValueError(f"its arrays have more than {BYTES} bytes")
                left -= len(content)
                found[name] = _array(name, content)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from error
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is not an npz file of plain arrays: {error}") from error
    except (ValueError, zlib.error, EOFError, RuntimeError, OverflowError) as error:
        # Encrypted parts, and packings that this Python does not know, are RuntimeErrors.
        raise ValueError(f"{path} is not an npz file of plain arrays: {str(error)[:200]}") from error
    return found


def described(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the arrays that :func:`read` returned as JSON: the type and the shape of each array with axes."""

    def describe(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return {"type": _TYPES[value.dtype.kind], "shape": list(value.shape)}
        return value if isinstance(value, str) else value.item()

    return {name: describe(value) for name, value in arrays.items()}


def _array(name: str, content: bytes) -> Any:
    """Read the array in a part of the file. Raise ``ValueError`` unless its header is complete."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, dtype = readers[version](file)
    except (ValueError, LookupError, TypeError, SyntaxError, ArithmeticError, MemoryError, RecursionError) as error:
        raise ValueError(f"{quoted(name)} has no header of an array") from error
    except (tokenize.TokenError, AttributeError) as error:
        raise ValueError(f"{quoted(name)} has no header of an array") from error
    if dtype.kind not in "biufU" or (dtype.kind == "U" and (shape or dtype.itemsize > 4 * TEXT)):
        raise ValueError(f"{quoted(name)} is of the type {quoted(str(dtype))}: numbers or one short text were expected")
    count = math.prod(shape)
    if any(size < 0 for size in shape) or count > BYTES or count * dtype.itemsize != len(content) - file.tell():
        raise ValueError(f"{quoted(name)} holds another number of bytes than its shape {quoted(shape)} needs")
    file.seek(0)
    value = np.lib.format.read_array(file, allow_pickle=False)
    if dtype.kind == "U":
        return str(value)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            value = value.astype(np.float64)
    return value[()]
