"""Where the paper's six datasets come from, what their files must hold, and how a file becomes rows.

Takes NumPy archives, LIBSVM's format or UCI's comma-separated one, plain or compressed; hands on ``Rows``.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from repsketch.errors import InputError, require
from repsketch.progress import progress_bar

OPENERS: dict[str, Callable] = {".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}
ENDINGS = ("", *OPENERS, ".zip")
BLOCK_BYTES = 1 << 24  # of text, parsed at a time: the full SUSY never lies in memory as text
ADVICE = "replace it by a complete file"
#: What the readers of all these formats raise at a broken file.
BROKEN = (
    *(OSError, EOFError, ValueError, TypeError, KeyError, RuntimeError),
    *(lzma.LZMAError, zlib.error, zipfile.BadZipFile),
)

#: ``content_digest`` of the complete sets, written by tools/write_digests.py.
DIGESTS = {
    "a9a": "85ea0854db9a54fcf7e2f90b3bb1e35c17f8fc6918c6fe175141d43b45e8ad9a",
    "phishing": "bd3655857433aee89fade4345f729c1c69aa2c6105be0f18c77bd2e07a7c8299",
    "skin": "7c279c2baa69ee2548c7c767072719ee2db6d3471e737b7d1af500bf9a1bacb3",
    "abalone": "52af451203f6748b29098e688248bb5d0fab1d0a35d5490b74e88740680ff304",
}


@dataclass(frozen=True)
class Source:
    """Where one dataset comes from. Sizes are those of the complete set, whatever the archive holds.

    >>> SOURCES["susy"].is_subset, SOURCES["a9a"].is_subset
    (True, False)
    """

    task: str  # "classification", where label 1 is class 1 and any other class 0, or "regression"
    file: str  # the archive in REPSKETCH_DATA
    n_features: int
    n_train: int  # all rows where there is no official split
    n_test: int  # the last rows; 0 where there is no official split
    dtypes: tuple[str, str]  # of inputs and labels
    remote: tuple[str, ...]  # below LIBSVM's address: all rows, or training and test rows
    uci: tuple[str, ...] = ()  # other names of a file with all rows, without the ending of a compression
    digest: str | None = None  # None: not known
    openml: int | None = None  # number at OpenML, for the day when LIBSVM has lost the file
    test_origin: int | None = None  # what the archive's array ``origin`` says of its test rows
    is_pattern: bool = False  # only which values are not zero counts; X holds 0 and 1
    note: str = ""  # what to print beside numbers that come from an archive with fewer rows

    @property
    def is_subset(self) -> bool:
        """True where the archive in REPSKETCH_DATA holds only some of the rows."""
        return bool(self.note)

    def find(self, folder: Path) -> list[Path]:
        """Files in ``folder`` that hold the complete set, all rows or training and test rows; else an empty list."""
        names = tuple(Path(file) for file in self.remote)
        libsvm = tuple(name.stem if name.suffix in ENDINGS[1:] else name.name for name in names)
        for stems in (libsvm, *((stem,) for stem in self.uci)):
            found = [[path for end in ENDINGS if (path := folder / (stem + end)).is_file()] for stem in stems]
            if all(found):
                return [paths[0] for paths in found]
        return []


_YEAR = "YearPredictionMSD"
_INCOMPARABLE = "not comparable digit for digit with results on the full set and its official test rows."
SOURCES = {
    "a9a": Source(
        *("classification", "a9a.npz", 123, 32561, 16281, ("u1", "i1"), ("binary/a9a", "binary/a9a.t")),
        digest=DIGESTS["a9a"],
    ),
    "phishing": Source(
        *("classification", "phishing.npz", 68, 11055, 0, ("u1", "u1"), ("binary/phishing",)),
        digest=DIGESTS["phishing"],
        is_pattern=True,  # LIBSVM scales every row to length 1
    ),
    "skin": Source(
        *("classification", "skin_nonskin.npz", 3, 245057, 0, ("u1", "u1"), ("binary/skin_nonskin",)),
        digest=DIGESTS["skin"],
        openml=1502,
    ),
    "susy": Source(
        *("classification", "susy_sample.npz", 18, 4_500_000, 500_000, ("f4", "i1"), ("binary/SUSY.xz",)),
        uci=("SUSY.csv", "susy"),
        note=f"SUSY: 40,924 of 5,000,000 rows, split at random; {_INCOMPARABLE}",
    ),
    "abalone": Source(
        *("regression", "abalone.npz", 8, 4177, 0, ("f8", "i1"), ("regression/abalone",)),
        digest=DIGESTS["abalone"],
        openml=183,
    ),
    "yearmsd": Source(
        *("regression", "yearpredictionmsd_sample.npz", 90, 463_715, 51_630, ("f4", "i2")),
        (f"regression/{_YEAR}.bz2", f"regression/{_YEAR}.t.bz2"),
        test_origin=1,
        uci=(f"{_YEAR}.txt", _YEAR, "yearpredictionmsd"),
        note=f"YearPredictionMSD: 8,162 of 515,345 rows with a split of their own; {_INCOMPARABLE}",
    ),
}


@dataclass(frozen=True)
class Rows:
    """A dataset as its files hold it.

    X is (n, d) and y (n,) with the labels of the files. ``given_split`` says which rows are for training and which for
    testing, or is None where no split was published. ``note``, if any, belongs beside numbers from these rows.
    """

    X: np.ndarray
    y: np.ndarray
    given_split: tuple | None = None
    note: str = ""


def content_digest(X: np.ndarray, y: np.ndarray) -> str:
    """The sha256, in hexadecimal, of what a dataset holds, however its files are written.

    For X, then for y: one line of ASCII with the NumPy type and the shape, as in ``<f8 (4177, 8)``, then the values
    row by row, little-endian. Rows are in the order of the files, training rows before test rows; types are those of
    the dataset's ``Source``; labels are those of the files.

    >>> content_digest(np.zeros((2, 3), np.uint8), np.array([1, 2], np.int8))[:16]
    'f316d43c74e48011'
    """
    digest = hashlib.sha256()
    for values in (X, y):
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        digest.update(f"{values.dtype.str} {values.shape}\n".encode())
        digest.update(values.data)
    return digest.hexdigest()


def read_archive(source: Source, path: Path) -> Rows:
    """Rows of the NumPy archive at ``path``: X and y, or X_train, y_train, X_test and y_test, of any number."""
    given_split: tuple | None = None
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:  # np.load alone leaves it open
            if "X_train" in archive:
                X, y = (np.concatenate([archive[f"{key}_train"], archive[f"{key}_test"]]) for key in "Xy")
                n_train = len(archive["y_train"])
                given_split = slice(n_train), slice(n_train, None)
            else:
                X, y = archive["X"], archive["y"]
                if source.test_origin is not None:
                    is_test = archive["origin"] == source.test_origin
                    given_split = np.flatnonzero(~is_test), np.flatnonzero(is_test)
        if X.ndim != 2 or y.shape != X.shape[:1]:
            raise ValueError(f"shapes of X and y are {X.shape} and {y.shape}")
    except BROKEN as error:
        raise _unreadable(path, error) from error
    return Rows(X, y, given_split, source.note)


def read_files(source: Source, paths: Sequence[Path], advice: str = ADVICE) -> Rows:
    """Rows of one file with all rows, or of two with training and test rows, as ``Source.find`` gives them.

    Raises unless the files hold as many rows and columns as ``source`` says, all of values that its types can hold.
    ``advice`` ends the message.
    """
    counts = (source.n_train, source.n_test) if len(paths) == 2 else (source.n_train + source.n_test,)
    X = np.empty((sum(counts), source.n_features), source.dtypes[0])
    y = np.empty(sum(counts), source.dtypes[1])
    start = 0
    for path, count in zip(paths, counts, strict=True):
        n_read = 0
        try:
            with progress_bar(f"reading {path.name}", count) as bar:
                for inputs, labels in _blocks(path, source.n_features):
                    here = slice(start + n_read, start + min(n_read + len(labels), count))
                    n_read += len(labels)
                    if n_read <= count:
                        _fill(X[here], inputs != 0 if source.is_pattern else inputs)
                        _fill(y[here], labels)
                    bar.advance(len(labels))
        except BROKEN as error:
            raise _unreadable(path, error, advice) from error
        if n_read != count:
            raise InputError(f"{path} has {n_read} rows; {count} are expected; {advice}.")
        start += count
    n_train = source.n_train
    return Rows(X, y, (slice(n_train), slice(n_train, None)) if source.n_test else None)


def _blocks(path: Path, n_features: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Inputs (m, d) and labels (m,), float64, of some lines after the other."""
    with ExitStack() as stack:
        handle: IO[bytes] = stack.enter_context(open(path, "rb"))
        name = path
        if path.suffix == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(handle))
            largest = max(archive.infolist(), key=lambda member: member.file_size)  # not the notes beside it
            handle, name = archive.open(largest), Path(largest.filename)
            stack.enter_context(handle)
        if name.suffix in OPENERS:
            handle = stack.enter_context(OPENERS[name.suffix](handle))
        while lines := handle.readlines(BLOCK_BYTES):
            if b"," in lines[0]:
                table = np.loadtxt(lines, delimiter=",", ndmin=2)
                if table.shape[1] != n_features + 1:
                    raise ValueError(f"{table.shape[1]} columns; {n_features + 1} are expected")
                yield table[:, 1:], table[:, 0]
            else:
                load = require("sklearn.datasets", "train").load_svmlight_file
                inputs, labels = load(io.BytesIO(b"".join(lines)), n_features=n_features, zero_based=False)
                yield inputs.toarray(), labels


def _fill(target: np.ndarray, values: np.ndarray) -> None:
    """Copy float64 ``values`` into ``target``; floats may be rounded, integers not."""
    with np.errstate(invalid="ignore", over="ignore"):
        target[...] = values
    if not (np.isfinite(target).all() if target.dtype.kind == "f" else np.array_equal(target, values)):
        raise ValueError(f"a value that {target.dtype} cannot hold")


def _unreadable(path: Path, error: BaseException, advice: str = ADVICE) -> InputError:
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return InputError(f"{path} cannot be read ({reason}); {advice}.")
