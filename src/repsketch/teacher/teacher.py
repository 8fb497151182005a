"""A trained model as a function from rows to outputs, evaluated block by block."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.arrays import (
    BLOCK_ROWS,
    LARGEST_OUTPUT,
    as_checked,
    as_table,
    check_not_empty,
    check_width,
    is_sparse,
    take_rows,
)
from ..errors import RepSketchError, TeacherError
from ..predictor import to_probabilities
from .raw_outputs import as_raw_outputs
from .reading import Reading


@dataclass(frozen=True, eq=False)
class TeacherOutputs:
    """A teacher's outputs for some rows, and what their columns mean.

    Attributes
    ----------
    values : float64 (n, C), finite: one column of log-odds for two classes, C columns of logits for
        more classes, the values themselves for regression
    task : "classification" or "regression"
    classes : (2,) labels where C = 1 else (C,), in column order; None for regression
    probabilities : float64 (n, number of classes) as the teacher returned them; None where it returned logits or
        values. ``values`` are then their log-odds, clipped

    >>> from repsketch.teacher import as_teacher
    >>> as_teacher(lambda X: X, task="regression").label([[1.0, 2.0]])
    TeacherOutputs(regression, 1 row, 2 outputs)
    """

    values: np.ndarray
    task: str
    classes: np.ndarray | None
    probabilities: np.ndarray | None = None

    @property
    def soft_labels(self) -> np.ndarray:
        """Outputs (n, C) in the units of labels: probabilities of classes (of the second, if there are two), or values.

        >>> TeacherOutputs(np.array([[0.0]]), "classification", np.array(["no", "yes"])).soft_labels.tolist()
        [[0.5]]
        """
        if self.task != "classification":
            return self.values
        probabilities = to_probabilities(self.values) if self.probabilities is None else self.probabilities
        return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities

    def __repr__(self) -> str:
        (n_rows, n_outputs), classes = np.shape(self.values), self.classes
        what = f"{n_outputs} output{'s' * (n_outputs != 1)}" if classes is None else f"{len(classes)} classes"
        return f"TeacherOutputs({self.task}, {n_rows} row{'s' * (n_rows != 1)}, {what})"


@dataclass(eq=False)
class Teacher:
    """A trained model as a function from rows to outputs; made by ``as_teacher``.

    Where the model does not say its task, its classes, or whether it returns probabilities, they are inferred from the
    first outputs and then fixed: label a large table first, not a single row.

    Attributes
    ----------
    name : the name of this teacher in messages
    n_features : number of columns it takes; None where the model does not say

    >>> from repsketch.teacher import as_teacher
    >>> as_teacher(lambda X: X @ [[1.0, 0.0, 2.0]]).label([[1.0], [3.0]]).classes
    array([0, 1, 2])
    """

    name: str
    n_features: int | None
    _predict: Callable[[Any], Any] = field(repr=False)
    _reading: Reading = field(repr=False)
    # True: the model gets float32 arrays; False: slices of the caller's own table.
    _is_dense: bool = field(default=False, repr=False)
    _block_rows: int = field(default=BLOCK_ROWS, repr=False)

    def label(self, X: Any, labels: Any = None) -> TeacherOutputs:
        """Outputs of the teacher for every row of ``X``, with the task and the classes.

        Parameters
        ----------
        X : ndarray, scipy sparse matrix or data frame of shape (n, d), n >= 1; evaluated in blocks of rows
        labels : labels that may occur, such as those of y. Where the teacher returns labels and does not say its
            classes, these are classes, too

        >>> from repsketch.teacher import as_teacher
        >>> as_teacher(lambda X: X[:, 0], task="classification").label([[0.5], [0.75]]).values.round(3)
        array([[0.   ],
               [1.099]])
        """
        X = as_checked(X)
        is_table = len(getattr(X, "shape", ())) == 2 and not is_sparse(X)
        table = X if is_table and not self._is_dense else as_table(X)
        check_not_empty(table)
        if self._is_dense and self.n_features is not None:
            check_width(table, self.n_features)
        starts, take = range(0, table.shape[0], self._block_rows), take_rows if self._is_dense else slice_rows
        blocks = [self._evaluate(take(table, start, start + self._block_rows), start) for start in starts]
        if len({block.shape[1] for block in blocks}) > 1:
            raise TeacherError(
                f"{self.name} returned another number of columns for other rows; allowed is one number for all rows."
            )
        if len({block.dtype.kind == "U" for block in blocks}) > 1:
            raise TeacherError(f"{self.name} returned numbers for some rows and text for others.")
        raw = np.concatenate(blocks)
        reading = self._reading = self._reading.resolve(raw, self.name, labels)
        values, probabilities = reading.read(raw)
        return TeacherOutputs(values, str(reading.task), reading.classes, probabilities)

    def _evaluate(self, rows: Any, start: int) -> np.ndarray:
        """Raw outputs (n, C) for one block of rows, finite, in the teacher's own number type; or labels (n, 1)."""
        try:
            outputs = self._predict(rows)
            if isinstance(outputs, list) and outputs and isinstance(outputs[0], dict):
                outputs = self._from_maps(outputs)
            if hasattr(outputs, "detach"):
                outputs = outputs.detach().cpu()  # a tensor with its gradient
            matrix = as_raw_outputs(outputs, rows.shape[0], self.name)
        except RepSketchError:
            raise
        except Exception as error:
            given = f"rows of shape {tuple(rows.shape)}"
            raise TeacherError(f"{self.name} raised {type(error).__name__} on {given}: {error}") from error
        if matrix.dtype.kind == "U":
            return matrix
        for row, column in np.argwhere(~(np.abs(matrix) <= LARGEST_OUTPUT))[:1]:  # NaN fails the comparison
            given = f"{matrix[row, column]} for row {start + row} of X in column {column}"
            raise TeacherError(
                f"{self.name} returned {given}; allowed are finite outputs within float32. Correct or drop this row."
            )
        return matrix

    def _from_maps(self, outputs: list[dict]) -> list[list[float]]:
        """Columns in rising order of label, from a map {label: score} per row, as ONNX's ZipMap returns."""
        labels = sorted(outputs[0])
        self._reading = Reading("classification", np.asarray(labels)).add(self._reading, self.name)
        return [[row[label] for label in labels] for row in outputs]


def slice_rows(table: Any, start: int, stop: int) -> Any:
    """Rows of an array or a frame, in its own type."""
    return table.iloc[start:stop] if hasattr(table, "iloc") else table[start:stop]
