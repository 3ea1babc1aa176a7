"""Data for classification: files in LIBSVM's text format or CSV, real data from scikit-learn, splits over clients.

scikit-learn is imported where it is used: loading it takes a second.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import math
import os
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast, get_args

import numpy as np

from fedtheory import extras
from fedtheory.numbers.rational import Array

Split = Literal["equal", "iid", "label"]

# A wrong feature index in a sparse file can ask for any number of columns: refuse beyond 2 GiB.
_DENSE_LIMIT = 2**28
# A small compressed file can hold endless data, on endless lines: refuse beyond these numbers of bytes.
_FILE_LIMIT, _LINE_LIMIT = 2**33, 2**26
# A file of images is read at once: at most so many bytes (that of MNIST has 47 million).
_IDX_LIMIT = 2**30
# The squares of larger features, summed over all rows, are beyond the floats; those of smaller ones are nothing.
_LARGEST = 1e100


@dataclass(frozen=True)
class Dataset:
    """``A (rows, d)`` features and ``b (rows,)`` labels in {-1, +1}, both float64.

    Raises ``ValueError`` on wrong shapes, no data, values that are not finite, features above 1e100 in size, and unless
    both labels occur.
    """

    name: str
    A: Array
    b: Array

    def __post_init__(self) -> None:
        A, b = (np.asarray(v, dtype=np.float64) for v in (self.A, self.b))
        if A.ndim != 2 or b.shape != A.shape[:1]:
            raise ValueError(f"{self.name}: A must be (rows, d) and b (rows,), got {A.shape} and {b.shape}")
        if A.size == 0:
            raise ValueError(f"{self.name} has no data")
        for what, bad in (("features", ~np.isfinite(A).all(axis=1)), ("label", ~np.isfinite(b))):
            if bad.any():
                raise ValueError(f"{self.name} has NaN or infinite {what} in data row {np.argmax(bad) + 1}")
        # Without a copy of what may be large.
        if max(-A.min(), A.max()) > _LARGEST:
            row, column = np.argwhere((A > _LARGEST) | (A < -_LARGEST))[0]
            raise ValueError(
                f"{self.name}: feature {column + 1} of data row {row + 1} is {A[row, column]:g}, "
                f"and at most {_LARGEST:g} in size was expected"
            )
        if not np.array_equal(np.unique(b), (-1, 1)):
            raise ValueError(f"{self.name}: the labels must be -1 and +1, and both occur")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.A.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.A.shape[1])


def load(path: str | os.PathLike[str]) -> Dataset:
    """The data of two classes in a file, as :func:`load_rows` reads it, named after it, without its suffix.

    The two labels become -1 and +1 in increasing order. Raises ``ValueError`` also when a value is not finite, when a
    feature is above 1e100 in size, and when there are not exactly two labels.
    """
    A, labels = load_rows(path)
    try:
        return Dataset(Path(path).stem, A, _signs(str(path), labels))
    except ValueError as error:
        raise ValueError(f"{error}{_labels_first(Path(path), A, labels)}") from None


def load_rows(path: str | os.PathLike[str]) -> tuple[Array, Array]:
    """Features ``(rows, d)`` and labels ``(rows,)`` of a file, dense; it may be compressed (``.gz``, ``.bz2``).

    A file named ``.csv`` has rows of numbers between commas or semicolons, the label last, and perhaps a header; any
    other is in LIBSVM's text format. A UTF-8 byte-order mark is skipped. Raises ``ValueError`` when the file is
    missing, a directory, unreadable, truncated, malformed, empty or too large to be dense, when its header shows that
    the first column is the index of a pandas table or holds the labels, and when a line has more than 64 MiB or the
    whole, decompressed, more than 8 GiB. Of a truncated file without compression only an incomplete last line can be
    noticed.
    """
    path = Path(path)
    commas = _is_csv(path)
    expected = "CSV format" if commas else "LIBSVM's text format"
    with _reading(path, expected) as file:
        try:
            found, labels = (_csv if commas else _libsvm)(_Lines(file))
        except (ValueError, OverflowError) as error:
            # The message quotes the offending text, which in a binary file may be very long.
            raise ValueError(f"{path} is not in {expected}: {str(error)[:100].rstrip('.')}") from None
    rows, d = found.shape
    if rows * d > _DENSE_LIMIT:
        raise ValueError(f"{path} is too large to be dense: {rows} rows with feature indices up to {d}")
    A: Array = found if commas else found.toarray()
    if not A.any():
        raise ValueError(f"{path} has no data: {'it is empty' if rows == 0 else 'no feature is other than 0'}")
    return A, labels


def _libsvm(lines: _Lines) -> tuple[Any, Array]:
    """Sparse features, and labels; an error of a line names the line."""
    extras.require("sklearn")
    from sklearn.datasets import load_svmlight_file

    try:
        A, labels = load_svmlight_file(lines)
    except (ValueError, OverflowError) as error:
        # scikit-learn reads a line at a time, and checks what concerns all of them once the last is read.
        raise ValueError(str(error) if lines.ended else f"line {lines.place}: {error}") from None
    return A, labels


def _csv(lines: Iterable[bytes]) -> tuple[Any, Array]:
    """Features, and labels; the first line that is not empty is a header if nothing in it is a number."""
    values, separator, width, named = array("d"), "", 0, False
    for place, line in enumerate(lines, 1):
        text = line.decode().strip()
        if not text:
            continue
        first, separator = not separator, separator or (";" if ";" in text else ",")
        cells = text.split(separator)
        width = width or len(cells)
        if width == 1:
            raise ValueError(f"line {place} has one value where features and a label were expected")
        if len(cells) != width:
            raise ValueError(f"line {place} has {len(cells)} values where {width} were expected")
        wrong = [cell for cell in cells if not _is_number(cell)]
        # The columns of a table may be numbered, but for its index.
        if first and (len(wrong) == width or not _name(cells[0])):
            _check_header([_name(cell) for cell in cells])
            named = True
            continue
        if wrong:
            raise ValueError(f"line {place} has {wrong[0][:40]!r} where a number was expected")
        values.extend(map(float, cells))
        if len(values) > _DENSE_LIMIT:
            raise ValueError(f"it has more than {_DENSE_LIMIT} numbers")
    table = np.array(values).reshape(-1, max(width, 1))
    if not named and width > 2 and len(table) > 2 and np.array_equal(table[:, 0], np.arange(len(table))):
        raise ValueError("its first column counts rows from 0, as an index: leave it out, or name it in a header")
    return table[:, :-1], table[:, -1]


# Names of a column of labels; the last column may have any name.
_LABELS = ("label", "labels", "target", "targets", "class", "y")


def _is_csv(path: Path) -> bool:
    return ".csv" in path.suffixes[-2:]


def _name(cell: str) -> str:
    return cell.strip().strip("\"'").lower()


def _check_header(names: list[str]) -> None:
    """Raise ``ValueError`` if names in lower case show that the first column is an index, or holds the labels."""
    # A table that was written with its index, and one that was then read and written again.
    if names[0] in ("", "unnamed: 0"):
        raise ValueError("its first column has no name, as the index that pandas writes: write it with index=False")
    if names[0] in _LABELS and names[-1] not in _LABELS:
        raise ValueError(f"its first column is called {names[0]!r}: labels go last")


def _labels_first(path: Path, A: Array, labels: Array) -> str:
    """A hint where the last column of a CSV file cannot be the labels, and the first can."""
    two = _is_csv(path) and len(np.unique(labels)) != 2 and len(np.unique(A[:, 0])) == 2
    return "; the first column has two values: labels go last" if two else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _opened(path: Path) -> BinaryIO:
    """The file's bytes, decompressed according to its name."""
    match path.suffix:
        case ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        case ".bz2":
            return cast(BinaryIO, bz2.open(path, "rb"))
    return path.open("rb")


@contextmanager
def _reading(path: Path, expected: str) -> Iterator[BinaryIO]:
    """The file's bytes while they are read; ``ValueError`` says why they cannot be. ``expected``: its format."""
    try:
        with _opened(path) as file:
            yield file
    except FileNotFoundError:
        raise ValueError(
            f"there is no file {path}: the data sets of LIBSVM are at www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets, "
            "and a CSV file with the label last will do; without --data the bundled breast cancer data are taken"
        ) from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a directory, a file in {expected} was expected") from None
    except PermissionError:
        raise ValueError(f"{path} may not be read: permission denied") from None
    except EOFError:
        raise ValueError(f"{path} is truncated: its compressed data end too early") from None
    except (OSError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None


class _Lines:
    """The lines of a file for scikit-learn, which has no limits of its own: ``ValueError`` beyond the limits.

    ``place``: the number of the last line read, from 1; ``ended``: whether all have been read.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.place, self.ended = 0, False

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        while line := self._file.readline(_LINE_LIMIT + 1):
            size += len(line)
            self.place += 1
            if len(line) > _LINE_LIMIT or size > _FILE_LIMIT:
                raise ValueError(f"a line has more than {_LINE_LIMIT} bytes, or all more than {_FILE_LIMIT}")
            if self.place == 1:
                if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    raise ValueError("it begins with the byte-order mark of UTF-16: save it in UTF-8")
                line = line.removeprefix(codecs.BOM_UTF8)
            yield line
        self.ended = True


def bundled(name: str = "breast-cancer") -> Dataset:
    """Real data that ship with scikit-learn, each feature scaled to [-1, 1] (a constant one becomes -1).

    ``breast-cancer``: 569 rows, d = 30, +1 benign; ``digits``: 1797 rows, d = 64, +1 an odd digit. Raises
    ``ValueError`` for another name.
    """
    extras.require("sklearn")
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.preprocessing import MinMaxScaler

    if name == "breast-cancer":
        A, target = load_breast_cancer(return_X_y=True)
    elif name == "digits":
        A, digit = load_digits(return_X_y=True)
        target = digit % 2
    else:
        raise ValueError(f"no bundled data named {name!r}, expected 'breast-cancer' or 'digits'")
    return Dataset(name, MinMaxScaler((-1, 1), clip=True).fit_transform(A), 2.0 * target - 1)


def split(data: Dataset, n: int, how: Split, rng: np.random.Generator) -> tuple[Array, Array]:
    """Distribute the rows over ``n`` clients with m = rows // n each: ``A (n, m, d)``, ``b (n, m)``.

    ``equal``: shuffle, cut into equal parts, drop the remainder, as LoCoDL's experiments do (Section 4): no row
    occurs twice, the clients are alike. ``iid``: every row of every client is an independent draw from the
    data, with replacement, so that clients are independent, which parts of a shuffle are not. ``label``:
    shuffle, drop the remainder, sort by label, cut: at most one client sees both labels, the most
    heterogeneous split. Raises ``ValueError`` unless 1 <= n <= rows, or for another ``how``.
    """
    if how not in get_args(Split):
        raise ValueError(f"no split named {how!r}, expected one of {', '.join(get_args(Split))}")
    if not 1 <= n <= data.rows:
        raise ValueError(f"the {data.rows} rows of {data.name} cannot be split over {n} clients")
    m = data.rows // n
    size = n * m
    chosen = rng.integers(data.rows, size=size) if how == "iid" else rng.permutation(data.rows)[:size]
    if how == "label":
        chosen = chosen[np.argsort(data.b[chosen], kind="stable")]
    return data.A[chosen].reshape(n, m, data.d), data.b[chosen].reshape(n, m)


def _signs(where: str, labels: Array) -> Array:
    """-1 for the smaller and +1 for the larger of exactly two labels; ``where`` is named in errors."""
    found = np.unique(labels)
    if not np.isfinite(found).all():
        raise ValueError(f"{where} has NaN or infinite labels")
    if len(found) != 2:
        shown = ", ".join(f"{v:g}" for v in found[:5]) + (", ..." if len(found) > 5 else "")
        count = "one label" if len(found) == 1 else f"{len(found)} different labels"
        raise ValueError(f"{where} has {count} ({shown}), exactly two were expected")
    return np.where(labels == found[1], 1.0, -1.0)


@dataclass(frozen=True)
class Images:
    """``A (rows, d)``: pixels in [0, 1]; ``labels (rows,)``: classes, as integers from 0 on."""

    name: str
    A: Array
    labels: Array

    def classes(self, first: int, second: int) -> Dataset:
        """The rows of two classes, -1 for the first. Raise ``ValueError`` unless both occur."""
        chosen = np.isin(self.labels, (first, second))
        b = np.where(self.labels[chosen] == first, -1.0, 1.0)
        if not np.array_equal(np.unique(b), (-1, 1)):
            raise ValueError(f"{self.name} does not have both classes, {first} and {second}")
        return Dataset(f"{self.name}, classes {first} and {second}", self.A[chosen], b)


def load_idx(images: str | os.PathLike[str], labels: str | os.PathLike[str] | None = None) -> Images:
    """Read images and their labels in the IDX format of MNIST, perhaps compressed (``.gz``, ``.bz2``).

    Where no file of ``labels`` is named it is the one beside that of the images whose name says labels for images and
    idx1 for idx3. Raise ``ValueError`` if a file is missing, unreadable, of another format, truncated or longer than
    its header says, or when there are not as many labels as images.
    """
    path = Path(images)
    pixels = _read_idx(path, 3)
    beside = path.with_name(path.name.replace("images", "labels").replace("idx3", "idx1"))
    classes = _read_idx(Path(labels) if labels is not None else beside, 1)
    if len(classes) != len(pixels):
        raise ValueError(f"{path} has {len(pixels)} images, and there are {len(classes)} labels")
    return Images(path.name.split(".")[0], pixels.reshape(len(pixels), -1) / 255.0, classes.astype(int))


def _read_idx(path: Path, axes: int) -> Array:
    """The bytes of an IDX file of so many axes, in their shape."""
    with _reading(path, "the IDX format") as file:
        content = file.read(_IDX_LIMIT + 1)
    head = 4 + 4 * axes
    # Unsigned bytes are type 8.
    if len(content) < head or content[:4] != bytes((0, 0, 8, axes)):
        raise ValueError(f"{path} is not in the IDX format of {'images' if axes == 3 else 'labels'} of unsigned bytes")
    shape = tuple(int.from_bytes(content[i : i + 4], "big") for i in range(4, head, 4))
    if 0 in shape or len(content) != head + math.prod(shape):
        raise ValueError(
            f"{path} has {len(content) - head} bytes after its header, which asks for {' x '.join(map(str, shape))}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=head).reshape(shape)
