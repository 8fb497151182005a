"""Datasets that are not in REPSKETCH_DATA: from a folder of earlier downloads, else from LIBSVM, else from OpenML.

Takes a ``Source``, hands on its ``Rows``. What the files of other people should hash to is not known, so it is the
content that is checked: the digest of the decoded rows where one is known, else the numbers of rows and columns.
Beside each file lies the sha256 that it came with, so that later damage is noticed for every dataset.
"""

import hashlib
import io
import os
import urllib.error
import urllib.request
import warnings
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path

import numpy as np

from repsketch.errors import InputError, require
from repsketch.files import write_atomically
from repsketch.progress import progress_bar

from .sources import BROKEN, Rows, Source, content_digest, read_files

#: Where ``Source.remote`` begins. REPSKETCH_LIBSVM overrides it with a mirror, or with "off": no downloads.
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
TIMEOUT = 60  # seconds without a byte
CHUNK = 1 << 18
SEXES = {"M": 1, "F": 2, "I": 3}  # LIBSVM's numbers for the one column of letters, in abalone


def cache_folder() -> Path:
    """The folder of earlier downloads: ``repsketch`` in XDG_CACHE_HOME, else in ``.cache`` of the home folder.

    >>> cache_folder().name
    'repsketch'
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "repsketch"


def load_or_download(source: Source, *, folder: Path | None = None, address: str | None = None) -> Rows:
    """All rows of ``source``, from ``folder`` or downloaded and stored there.

    Parameters
    ----------
    source : where the rows come from and what they must be
    folder : of earlier downloads, ``cache_folder()`` by default
    address : LIBSVM's or a mirror's, or "off"; by default REPSKETCH_LIBSVM, else ``LIBSVM``
    """
    folder = folder or cache_folder()
    address = address or os.environ.get("REPSKETCH_LIBSVM") or LIBSVM
    if paths := source.find(folder):
        for path in paths:
            _check_stored(path)
        return read_checked(source, paths, "delete it to download it again")
    if address == "off":
        raise InputError(f"{_missing(source)}, or unset REPSKETCH_LIBSVM to allow a download.")
    paths = [folder / Path(file).name for file in source.remote]
    for path, file in zip(paths, source.remote, strict=True):
        if not path.is_file():
            _keep(path, _fetch(source, f"{address.rstrip('/')}/{file}"))
    try:
        return read_checked(source, paths, f"nothing was stored. Try again, or {_advice(source)}")
    except InputError:
        for path in paths:
            path.unlink(missing_ok=True)
            _mark(path).unlink(missing_ok=True)
        raise


def read_checked(source: Source, paths: Sequence[Path], advice: str) -> Rows:
    """Rows of ``paths``, or an error with ``advice`` if they are not what ``source`` is known to hold.

    No digest is known of the full SUSY and YearPredictionMSD: there the numbers of rows and columns must do.
    """
    rows = read_files(source, paths, advice)
    found = content_digest(rows.X, rows.y) if source.digest else None
    if found != source.digest:
        names = " and ".join(str(path) for path in paths)
        raise InputError(f"{names}: wrong content, its sha256 is {found}, expected is {source.digest}; {advice}.")
    return rows


def _fetch(source: Source, url: str) -> bytes:
    """What lies at ``url``, complete; OpenML's rows if nothing does."""
    content = io.BytesIO()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            length = int(response.headers.get("Content-Length") or -1)
            with progress_bar(f"downloading {url.rpartition('/')[2]}", length if length > 0 else None) as bar:
                while chunk := response.read(CHUNK):
                    content.write(chunk)
                    bar.advance(len(chunk))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (404, 410) and source.openml:
            return _fetch_openml(source)
        raise InputError(f"{_missing(source)}; {url} returns {error.code} ({error.reason}).") from error
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise InputError(f"{_missing(source)}, or connect: {url} cannot be reached ({reason}).") from error
    if content.tell() < length:
        raise InputError(f"{url} broke off after {content.tell()} of {length} bytes; nothing was stored. Try again.")
    return content.getvalue()


def _fetch_openml(source: Source) -> bytes:
    """OpenML's rows in LIBSVM's format, so that they are stored and read like LIBSVM's."""
    datasets = require("sklearn.datasets", "train")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "Retrying...": our own line says what came of it
            table = datasets.fetch_openml(
                data_id=source.openml, as_frame=False, parser="liac-arff", cache=False, n_retries=1, delay=0.1
            )
        X = np.array(table.data, np.float64)
        for column, name in enumerate(table.feature_names):
            if name in table.categories:
                X[:, column] = np.array([SEXES[letter] for letter in table.categories[name]])[X[:, column].astype(int)]
        content = io.BytesIO()
        datasets.dump_svmlight_file(X, table.target.astype(np.float64), content, zero_based=False)
    except (*BROKEN, HTTPException, IndexError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{_missing(source)}; LIBSVM lacks it and OpenML failed ({reason}).") from error
    return content.getvalue()


def _keep(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(_mark(path), hashlib.sha256(content).hexdigest().encode())  # first: no file is without it
        write_atomically(path, content)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); set XDG_CACHE_HOME.") from error


def _check_stored(path: Path) -> None:
    """Raise if the file at ``path`` is no longer the one that was downloaded; one put there by hand passes."""
    if not _mark(path).is_file():
        return
    try:
        expected = _mark(path).read_text(encoding="ascii")
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}); delete it to download it again.") from error
    if found != expected:
        raise InputError(
            f"{path} has changed since its download: its sha256 is {found}, expected is {expected}; "
            "delete it to download it again."
        )


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _missing(source: Source) -> str:
    return f"{source.file} not found: {_advice(source)}"


def _advice(source: Source) -> str:
    folder = os.environ.get("REPSKETCH_DATA")
    now = f"now {folder!r}" if folder else "it is not set"
    return f"set REPSKETCH_DATA to a folder with {source.file} ({now})"
