"""The training set of stage 1: inputs and the teacher's outputs, from memory or from a stream.

An array, sparse matrix or frame is used where it is. A stream of batches (a generator, an iterable,
or a function that returns one) is read once, labelled by the teacher batch by batch, and stored in a
temporary file, so that a data set larger than memory can be visited many times.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.arrays import as_outputs, as_table, check_not_empty, check_width, is_sparse, iterate_blocks
from ..errors import InputError
from ..progress import progress_bar
from ..teacher import Teacher, TeacherOutputs, as_teacher


@dataclass
class TrainingSet:
    """Inputs (n, d) that slice by rows, and the teacher's outputs for them; ``close`` when done."""

    X: Any
    labels: TeacherOutputs
    folder: tempfile.TemporaryDirectory | None = None  # of the file that a stream was stored in

    def rows(self, index: np.ndarray) -> np.ndarray:
        """The rows named by ``index`` as dense float32 (len(index), d)."""
        chosen = self.X[index]
        return np.asarray(chosen.toarray() if is_sparse(chosen) else chosen, dtype=np.float32)

    def close(self) -> None:
        """Remove the temporary file of a stream."""
        self.X = None
        if self.folder is not None:
            self.folder.cleanup()


def collect(model: Any, X: Any, task: str | None, classes: Any, *, progress: bool = True) -> TrainingSet:
    """Inputs checked and labelled by the teacher.

    ``model`` may also be the ``TeacherOutputs`` of an earlier labelling of the same X.
    """
    if not _is_stream(X):
        table = as_table(X)
        check_not_empty(table)
        for _ in iterate_blocks(table):
            pass  # raises for the first value that is not finite, before the teacher runs
        labels = model if isinstance(model, TeacherOutputs) else as_teacher(model, task, classes).label(X)
        return TrainingSet(table, _checked(labels, table.shape[0]))
    if isinstance(model, TeacherOutputs):
        raise InputError(
            "teacher outputs were given for a stream of batches; pass the model itself, it labels each batch."
        )
    return _spool(as_teacher(model, task, classes), _open_stream(X), progress=progress)


def _checked(labels: TeacherOutputs, n_rows: int) -> TeacherOutputs:
    return replace(labels, values=as_outputs(labels.values, n_rows, "the teacher outputs"))


def _is_stream(X: Any) -> bool:
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and getattr(X[0], "ndim", None) == 2
    return not hasattr(X, "shape") and not hasattr(X, "__array__") and (callable(X) or isinstance(X, Iterable))


def _open_stream(X: Iterable | Callable[[], Iterable]) -> Iterator:
    batches = X() if callable(X) else X
    if not isinstance(batches, Iterable):
        raise InputError(f"X is a function that returned {batches!r}; a stream must return an iterable of batches.")
    return iter(batches)


def _spool(teacher: Teacher, batches: Iterator, *, progress: bool) -> TrainingSet:
    folder = tempfile.TemporaryDirectory(prefix="repsketch-")
    try:
        path = Path(folder.name) / "inputs.f32"
        shape, labels = _write_inputs(path, teacher, batches, progress=progress)
        return TrainingSet(np.memmap(path, np.float32, mode="r", shape=shape), labels, folder)
    except BaseException:
        folder.cleanup()
        raise


def _write_inputs(
    path: Path, teacher: Teacher, batches: Iterator, *, progress: bool
) -> tuple[tuple[int, int], TeacherOutputs]:
    """Write all batches to one file of float32 rows; its shape, and the teacher's labels."""
    labels: TeacherOutputs | None = None
    values: list[np.ndarray] = []
    n_rows = n_features = 0
    with path.open("wb") as file, progress_bar("reading batches", total=None, enabled=progress) as bar:
        for batch in batches:
            table = as_table(batch, "a batch of X")
            check_not_empty(table, "a batch of X")
            n_features = n_features or table.shape[1]
            check_width(table, n_features, "a batch of X")
            for _, block in iterate_blocks(table, "a batch of X"):
                block.tofile(file)
            labels = teacher.label(batch)
            values.append(labels.values)
            n_rows += table.shape[0]
            bar.advance(note=f"{n_rows:,} rows")
    if labels is None:
        raise InputError("X is a stream without batches; at least one batch of rows is needed.")
    all_labels = replace(labels, values=np.concatenate(values), probabilities=None)
    return (n_rows, n_features), _checked(all_labels, n_rows)
