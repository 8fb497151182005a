"""The targets of a sketch: given labels, a teacher's soft labels, or both, in the same units.

Takes a model or None and y or None; hands on ``Targets``: probabilities of classes, or values, for every row of X.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.targets import as_labels, read_labels
from ..errors import InputError
from .adapt import as_teacher
from .reading import Reading
from .teacher import Teacher, TeacherOutputs


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of all rows.

    Attributes
    ----------
    labels : (n, C) float64, probabilities of classes (of the second, if there are two) or values
    soft_labels : (n, C) the teacher's outputs in the same units, or None
    is_taught : there are no labels of the user, ``labels`` are the teacher's outputs
    """

    labels: np.ndarray
    soft_labels: np.ndarray | None
    task: str
    classes: np.ndarray | None
    is_taught: bool = False


def read_targets(model: Any, X: Any, y: Any, task: str | None, n_rows: int) -> Targets:
    """Labels and a teacher's soft labels for the rows of X."""
    if model is None and y is None:
        raise InputError("neither a model nor y was given; allowed is either or both.")
    if model is None:
        labels, task, classes = read_labels(y, n_rows, task, None)
        return Targets(labels, None, task, classes)
    found = None if y is None else as_labels(y)
    teacher = of_outputs(model, task, n_rows) if isinstance(model, np.ndarray) else as_teacher(model, task)
    outputs = teacher.label(X, None if found is None else np.unique(found))
    if len(outputs.values) != n_rows:
        raise InputError(f"the model returned outputs for {len(outputs.values)} rows; X has {n_rows}.")
    if outputs.task == "classification":
        outputs = in_order(outputs, None if hasattr(model, "classes_") else found)
    soft_labels = outputs.soft_labels
    if y is None:
        return Targets(soft_labels, None, outputs.task, outputs.classes, is_taught=True)
    labels, _, classes = read_labels(y, n_rows, outputs.task, outputs.classes)
    if labels.shape != soft_labels.shape:
        raise InputError(f"the model has {soft_labels.shape[1]} outputs, y {labels.shape[1]}; they must agree.")
    return Targets(labels, soft_labels, outputs.task, classes)


def of_outputs(outputs: np.ndarray, task: str | None, n_rows: int) -> Teacher:
    """A teacher whose outputs (n,) or (n, C) for all rows are known.

    >>> of_outputs(np.array([[0.25, 0.75]]), None, 1).label([[7.0]]).soft_labels.tolist()
    [[0.75]]
    """
    return Teacher("the array of outputs", None, lambda rows: outputs, Reading(task), _block_rows=max(1, n_rows))


def in_order(outputs: TeacherOutputs, y: np.ndarray | None) -> TeacherOutputs:
    """Outputs with the classes in rising order; unnamed columns get the sorted labels of y, if there are as many.

    >>> turned = in_order(TeacherOutputs(np.array([[2.0]]), "classification", np.array(["no", "ay"])), None)
    >>> turned.values.tolist(), turned.classes.tolist()
    ([[-2.0]], ['ay', 'no'])
    """
    assert outputs.classes is not None
    n_classes, classes = len(outputs.classes), outputs.classes
    if y is not None and np.array_equal(classes, np.arange(n_classes)):
        found = np.unique(y)
        if len(found) == n_classes:
            classes = found
    order = np.argsort(classes)
    is_turned = order[0] == 1 and n_classes == 2
    values = outputs.values[:, order] if n_classes > 2 else -outputs.values if is_turned else outputs.values
    probabilities = None if outputs.probabilities is None else outputs.probabilities[:, order]
    return replace(outputs, values=values, classes=classes[order], probabilities=probabilities)
