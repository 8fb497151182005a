"""State of an unfinished distillation in a file, so that a stopped run can be resumed.

A plain .npz (no pickle) with the parameters, Adam's moments, the best parameters so far and the
epoch, written atomically after each epoch.
"""

import hashlib
import io
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..files import write_atomically
from .adam import Adam


def fingerprint(values: Iterable[object]) -> str:
    """A digest of everything that determines a run; arrays by their bytes, the rest by repr."""
    digest = hashlib.sha256()
    for value in values:
        digest.update(np.ascontiguousarray(value).tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return digest.hexdigest()


def check_path(path: Any) -> None:
    """Refuse a checkpoint that could not be written, before any work is done."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"checkpoint={path!r}; allowed is a file name or None.")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"checkpoint={str(path)!r} lies in a folder that does not exist; make the folder first.")


def save_state(
    path: str | os.PathLike,
    key: str,
    parameters: dict[str, np.ndarray],
    optimizer: Adam,
    best: dict[str, np.ndarray],
    numbers: dict[str, float],
) -> None:
    """Write the state of a run identified by ``key``."""
    arrays: dict[str, Any] = {f"number/{name}": np.float64(value) for name, value in numbers.items()}
    arrays["key"] = np.array(key)
    arrays["n_steps"] = np.int64(optimizer.n_steps)
    named = {"parameter": parameters, "best": best, "mean": optimizer.means, "square": optimizer.squares}
    for kind, of_kind in named.items():
        arrays.update({f"{kind}/{name}": value for name, value in of_kind.items()})
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_atomically(path, buffer.getvalue())


def load_state(
    path: str | os.PathLike, key: str, parameters: dict[str, np.ndarray], optimizer: Adam
) -> tuple[dict[str, np.ndarray], dict[str, float]] | None:
    """Restore a saved state and return its best parameters and numbers, or None if there is no file."""
    if not Path(path).exists():
        return None
    try:
        with open(path, "rb") as file:
            arrays = dict(np.load(file, allow_pickle=False))
        saved_key = str(arrays["key"])
    except (OSError, EOFError, TypeError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"checkpoint={str(path)!r} is not a checkpoint of repsketch ({error}); delete it.") from error
    if saved_key != key:
        raise InputError(
            f"checkpoint={str(path)!r} belongs to a run with other data, teacher or settings; "
            "give another file name, or delete it to start afresh."
        )
    for kind, of_kind in (("parameter", parameters), ("mean", optimizer.means), ("square", optimizer.squares)):
        for name, value in of_kind.items():
            value[...] = arrays[f"{kind}/{name}"]
    optimizer.n_steps = int(arrays["n_steps"])
    best = {name: arrays[f"best/{name}"] for name in parameters}
    numbers = {name.split("/", 1)[1]: float(value) for name, value in arrays.items() if name.startswith("number/")}
    return best, numbers
