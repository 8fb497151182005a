"""Files of tables: CSV (``csv_reader``), Parquet (``parquet_reader``), LIBSVM read by scikit-learn, npz.

Takes a path, hands on ``Contents``: the table as the library returns it, and other arrays of the file.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile
from zlib import error as ZlibError

import numpy as np

from ..errors import InputError, RepSketchError, require
from .csv_reader import read_csv
from .parquet_reader import read_parquet

LABEL = "label"  # the target of a LIBSVM file; the format has no names
_MAX_MESSAGE = 160  # characters of a library's own message
_DAMAGE = (OSError, ValueError, EOFError, BadZipFile, ZlibError, RuntimeError)  # what libraries raise; zipfile the last


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds.

    Attributes
    ----------
    X : ``Frame``, ndarray (n, d) or CSR matrix (n, d)
    beside : other arrays (n,), which may be the target
    target : the array that is the target by default
    separator : of a CSV file
    """

    X: Any
    beside: dict[str, np.ndarray] = field(default_factory=dict)
    target: str | None = None
    separator: str | None = None


@dataclass(frozen=True)
class Hints:
    """What a file does not say: columns that hold text, the number of features of LIBSVM text, the encoding of CSV."""

    text: Collection[str] = ()
    n_features: int | None = None
    encoding: str | None = None


def read_contents(path: Path, hints: Hints) -> Contents:
    """The contents of a file by the ending of its name."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "no regular file"
        raise InputError(f"{str(path)!r} is {kind}; give the path of a table in a file.")
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}; give the path of a table that exists.")
    ending = next((ending for ending in _READERS if path.name.lower().endswith(ending)), None)
    if ending is None:
        raise InputError(f"{str(path)!r} is no table by its ending; allowed are {', '.join(_READERS)}.")
    try:
        return _READERS[ending](path, hints)
    except RepSketchError:
        raise
    except _DAMAGE as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:_MAX_MESSAGE]
        raise InputError(f"{str(path)!r} cannot be read as {ending}: {reason}") from error


def _read_csv(path: Path, hints: Hints) -> Contents:
    usual = "\t" if ".tsv" in map(str.lower, path.suffixes) else ","
    frame, separator = read_csv(path, hints.text, hints.encoding, usual)
    return Contents(frame, separator=separator)


def _read_parquet(path: Path, hints: Hints) -> Contents:
    return Contents(read_parquet(path))


def _read_libsvm(path: Path, hints: Hints) -> Contents:
    datasets = require("sklearn.datasets", "train")
    X, y = datasets.load_svmlight_file(str(path), n_features=hints.n_features, dtype=np.float32)
    return Contents(X, {LABEL: y.astype(np.int64) if (y == np.floor(y)).all() else y}, LABEL)


def _read_npz(path: Path, hints: Hints) -> Contents:
    if not is_zipfile(path):  # np.load would take it for a pickle, and suggest to trust it
        raise ValueError("it is no archive of arrays, as numpy.savez writes")
    with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
        arrays = {name: np.asarray(file[name]) for name in file.files}
    X = arrays.pop("X", None)
    if X is None or X.ndim != 2 or X.dtype.kind not in "biuf":
        others = ", ".join(f"{name} {array.shape}" for name, array in sorted(arrays.items())) or "none"
        given = "no array X" if X is None else f"an X of shape {X.shape} and dtype {X.dtype}"
        raise InputError(f"{str(path)!r} has {given} (others: {others}); allowed is a table X (n, d) of numbers.")
    beside = {name: array for name, array in arrays.items() if array.shape == X.shape[:1]}
    return Contents(X, beside, "y" if "y" in beside else None)


_READERS: dict[str, Callable[[Path, Hints], Contents]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv": _read_csv,
    ".tsv.gz": _read_csv,
    ".parquet": _read_parquet,
    ".libsvm": _read_libsvm,
    ".svmlight": _read_libsvm,
    ".svm": _read_libsvm,
    ".txt": _read_libsvm,
    ".npz": _read_npz,
}
