"""How a teacher's raw outputs are read: as values, logits, probabilities or labels.

What neither the model nor the caller says is inferred from the first outputs, and then fixed.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import TeacherError

# A tree that returns p = 1 has seen few rows there; the margin is not infinite. Log-odds are clipped to +-6.9, so that
# rows of extreme probability do not dominate the squared error.
PROBABILITY_FLOOR = 1e-3
FLOOR_TIMES_CLASSES = 0.1  # beyond 100 classes the floor is a tenth of the uniform probability, 1 / C
RANGE_TOLERANCE = 1e-6  # a float32 softmax may exceed 1 by rounding
SUM_TOLERANCE = 1e-3  # float16 probabilities add up no better
MAX_FLOAT_LABELS = 20  # integral floats with more different values are scores, not labels
MAX_LABELS = 1_000  # different integers that may be labels

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Reading:
    """How raw outputs are read; None where it is not known yet.

    Attributes
    ----------
    task : "classification" or "regression"
    classes : labels in column order
    scale : what the outputs are: "values", "logits", "probabilities" or "labels"
    is_settled : outputs have been read
    """

    task: str | None = None
    classes: np.ndarray | None = None
    scale: str | None = None
    is_settled: bool = False

    def add(self, requested: "Reading", name: str) -> "Reading":
        """What the model says (self) together with what the caller requested."""
        if self.task and requested.task and self.task != requested.task:
            raise TeacherError(
                f"task={requested.task!r}, but {name} does {self.task}; pass task={self.task!r} or None."
            )
        classes = self.classes if requested.classes is None else requested.classes
        return Reading(self.task or requested.task, classes, self.scale or requested.scale)

    def resolve(self, raw: np.ndarray, name: str, labels: Any = None) -> "Reading":
        """The complete reading, after a check that ``raw`` (n, C) agrees with what is known.

        ``labels`` are classes besides those that are found in ``raw``, if it holds labels and no classes are known.
        """
        if raw.dtype.kind == "U" and (self.task == "regression" or self.scale not in (None, "labels")):
            requested = "task='regression'" if self.task == "regression" else f"its outputs should be {self.scale}"
            given = f"{name} returned labels such as {raw.item(0)!r}, but {requested}"
            raise TeacherError(f"{given}; allowed are numbers. Pass task='classification', or a model of numbers.")
        if self._are_labels(raw):
            found = self._resolve_labels(raw, name, labels)
        else:
            found = self._resolve_scores(raw, name)
        if not self.is_settled:
            self._log(raw, found, name)
        return replace(found, is_settled=True)

    def _log(self, raw: np.ndarray, found: "Reading", name: str) -> None:
        n_outputs = raw.shape[1]
        what = (
            f"{n_outputs} output{'s' * (n_outputs > 1)}" if found.classes is None else f"{len(found.classes)} classes"
        )
        _log.info("teacher %s: %s of %s, outputs read as %s", name, found.task, what, found.scale)
        is_integer = raw.dtype.kind in "iu" and self.task is None and found.task == "regression"
        if is_integer and (n_values := _n_different(raw, MAX_FLOAT_LABELS)):
            shown = f"{n_values} different integers, read as values"
            _log.warning("%s returned %s; if they are labels, pass task='classification'", name, shown)

    def _are_labels(self, raw: np.ndarray) -> bool:
        """True for text; for booleans unless the task is regression; for integers only if it is classification."""
        if self.scale is not None:
            return self.scale == "labels"
        if raw.dtype.kind == "U":
            return True
        if raw.shape[1] > 1 or self.task == "regression":
            return False
        if raw.dtype.kind == "b" or self.task is None:
            return raw.dtype.kind == "b"
        if raw.dtype.kind == "f" and not ((raw == np.floor(raw)).all() and _n_different(raw, MAX_FLOAT_LABELS) > 1):
            return False
        return self.classes is None or set(np.unique(raw).tolist()) <= set(self.classes.tolist())

    def _resolve_labels(self, raw: np.ndarray, name: str, labels: Any) -> "Reading":
        if raw.shape[1] > 1:
            raise TeacherError(f"{name} returned labels of shape {raw.shape}; allowed is one label per row.")
        found = np.unique(raw)
        others = np.array([] if labels is None else np.asarray(labels).tolist())
        is_one_type = any(others.dtype.kind in kinds and found.dtype.kind in kinds for kinds in ("U", "biuf"))
        if self.classes is None and len(others) and is_one_type:
            found = np.union1d(found, others)
        if self.classes is None and len(found) == 1:
            given = f"{name} returned the label {found.tolist()[0]!r} for all {len(raw)} rows"
            raise TeacherError(f"{given}; allowed are two or more labels. Label rows of every class, or pass classes=.")
        if self.classes is None and len(found) > MAX_LABELS and found.dtype.kind != "U":
            given = f"{name} returned {len(found):,} different integers"
            raise TeacherError(
                f"{given}; allowed are at most {MAX_LABELS:,} labels. If they are values, pass task='regression'; "
                "if they are labels, pass them as classes=."
            )
        classes = found if self.classes is None else self.classes
        known = set(classes.tolist())
        for label in found.tolist():
            if label not in known:
                given = f"{name} returned the label {label!r}, which is not among its classes"
                raise TeacherError(
                    f"{given} {classes.tolist()[:8]}. Label a larger table in the first call, or pass classes=."
                )
        return Reading("classification", classes, "labels")

    def _resolve_scores(self, raw: np.ndarray, name: str) -> "Reading":
        n_columns = raw.shape[1]
        task = self.task or ("classification" if n_columns > 1 else "regression")
        if task == "regression":
            return Reading(task, None, "values")
        classes = np.arange(max(n_columns, 2)) if self.classes is None else self.classes
        if len(classes) != max(n_columns, 2):
            given = f"{name} returned shape {raw.shape} for {len(classes)} classes"
            raise TeacherError(f"{given}; allowed is a column per class, or one column for two classes.")
        looks_so = _looks_like_probabilities(raw)
        if self.scale == "probabilities" and not looks_so:
            raise TeacherError(
                f"{name} gives probabilities, but these lie outside [0, 1] or do not sum to 1 in every row. Pass "
                "a model with one label per row; if these are logits, label a larger table in the first call."
            )
        if n_columns == 1 and raw.dtype.kind in "iu" and not looks_so:
            raise TeacherError(
                f"{name} returned integers up to {raw.max()}, which are not among its classes "
                f"{classes.tolist()[:8]}; allowed are those labels, probabilities or log-odds."
            )
        return Reading(task, classes, self.scale or ("probabilities" if looks_so else "logits"))

    def read(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Outputs float64 (n, C) from raw outputs, and class probabilities if these are what the teacher returned.

        The reading must be resolved.
        """
        values = self._one_hot(raw) if self.scale == "labels" else raw.astype(np.float64)
        if self.task == "regression":
            return values, None
        probabilities = None
        if self.scale in ("probabilities", "labels"):
            probabilities, values = _normalised(values), _log_odds(values)
        return (values[:, 1:] - values[:, :1] if values.shape[1] == 2 else values), probabilities

    def _one_hot(self, raw: np.ndarray) -> np.ndarray:
        """Probabilities (n, C) of 0 and 1 for labels (n, 1)."""
        assert self.classes is not None
        column_of = {label: column for column, label in enumerate(self.classes.tolist())}
        found, places = np.unique(raw[:, 0], return_inverse=True)
        columns = np.array([column_of[label] for label in found.tolist()])[places]
        return np.eye(len(self.classes))[columns]


def _n_different(raw: np.ndarray, max_values: int) -> int:
    """Number of different values; 0 if more than ``max_values``."""
    n_different = len(np.unique(raw))
    return n_different if n_different <= max_values else 0


def _looks_like_probabilities(raw: np.ndarray) -> bool:
    if raw.min() < -RANGE_TOLERANCE or raw.max() > 1 + RANGE_TOLERANCE:
        return False
    return raw.shape[1] == 1 or bool((abs(raw.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE).all())


def _normalised(probabilities: np.ndarray) -> np.ndarray:
    """Probabilities of all classes (n, C), within [0, 1] and with sum 1; one column is that of the second class."""
    within = np.clip(probabilities, 0.0, 1.0)
    if within.shape[1] == 1:
        return np.hstack([1.0 - within, within])
    return within / within.sum(axis=1, keepdims=True)


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    n_columns = probabilities.shape[1]
    floor = min(PROBABILITY_FLOOR, FLOOR_TIMES_CLASSES / n_columns)
    clipped = np.clip(probabilities, floor, 1 - floor)
    if n_columns == 1:
        return np.log(clipped / (1 - clipped))
    logs = np.log(clipped)
    return logs - logs.mean(axis=1, keepdims=True)
