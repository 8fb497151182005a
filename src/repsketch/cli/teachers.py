"""The teacher of ``repsketch compress``: an .onnx file with the classes of the table."""

from pathlib import Path

import numpy as np

from ..data.tables import Table
from ..errors import InputError, TeacherError
from ..teacher import Teacher, as_teacher

FIRST_ROWS = 1_000  # evaluated to find the classes of an .onnx file


def open_onnx(path: Path, table: Table, task: str | None) -> Teacher:
    """An ONNX file as a teacher whose classes are those of the table."""
    if table.text_columns:
        columns = ", ".join(map(repr, table.text_columns[:3]))
        raise InputError(
            f"{path.name} takes numbers, but {table.name} holds text in {columns}; give the table as the model was "
            "trained on it, leave columns out with --drop, or use --train."
        )
    labels = None if table.y is None else np.unique(table.y)
    if task is None and labels is not None and len(labels) == 2:
        task = "classification"  # one column of outputs then holds log-odds or probabilities, not values
    known = as_teacher(path, task).label(table.X[:FIRST_ROWS]).classes
    if known is None or labels is None or np.isin(labels, known).all():
        return as_teacher(path, task)
    if len(known) != len(labels) or not np.array_equal(known, np.arange(len(known))):
        raise TeacherError(
            f"{path.name} has the classes {known.tolist()[:6]}, {table.name} {labels.tolist()[:6]}; they must agree."
        )
    return as_teacher(path, task, classes=labels)  # unnamed columns are in the order of the labels
