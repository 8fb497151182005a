"""The one call: a teacher, data and a budget in bytes become a sketch.

Takes a trained model or none, a raw table and labels or none; hands on the best sketch that was found within the
budget, in the int precision.
"""

import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .arrays import as_checked, as_outputs, check_not_empty, check_not_masked
from .errors import InputError, require
from .frames import Columns, as_columns
from .lsh.generator import resolve_seed
from .predictor import TASKS
from .settings import check_choice, check_number
from .sketch import CompiledSketch, Form
from .sketch.intervals import calibrated
from .teacher import TeacherOutputs, as_teacher
from .tune.budget import parse_budget

MOST_COLUMNS = 256  # that sketches are made of; of wider tables the most telling ones
_FEW_CLASSES = 20  # whole numbers with more values than this are read as values, not as classes


@dataclass(frozen=True, eq=False)
class Targets:
    """What a sketch is to answer.

    Attributes
    ----------
    labels : (n, C) float64, chances of classes (of the second, if there are two) or values
    answers : (n, C) the teacher's in the same measure, or None
    """

    labels: np.ndarray
    answers: np.ndarray | None
    task: str
    classes: np.ndarray | None
    outputs: TeacherOutputs | None = None  # the teacher's, where there are labels to train copies of it with


def compress(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    budget: int | str = "4KB",
    task: str | None = None,
    random_state: Any = None,
    time_limit: float | None = None,
    progress: bool = True,
) -> CompiledSketch:
    """The best sketch of at most ``budget`` bytes that imitates ``model`` on data like ``X``.

    Parameters
    ----------
    model : a trained model as for ``distill``; None to learn from ``y`` alone
    X : (n, d) array, scipy sparse matrix or data frame; text columns are categories, NaN and null are missing values
    y : (n,) true labels or values, worth giving: a teacher is too sure of the rows it was trained on
    budget : bytes a device may hold, such as 700, "512B", "4KB", "1MB"
    task : "classification" or "regression", where it cannot be found out
    random_state : seed of everything random; the same one gives the same bytes
    time_limit : seconds after which no further fit is begun

    Returns
    -------
    CompiledSketch
        ``summary`` tells how boosted trees, an int8 network and a linear model of the same bytes did on the same rows
        held out; one that did better is named on the standard error, too, unless ``progress`` is off

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> sketch = compress(lambda X: np.sin(X[:, 0]), X, budget="256B", task="regression", progress=False)
    >>> sketch.nbytes <= 256, bool(np.abs(sketch.predict(X) - np.sin(X[:, 0])).mean() < 0.2)
    (True, True)
    """
    require("torch", "train")
    from .company import Company
    from .tune.folds import LONGEST, answers_out_of_fold, is_refittable
    from .tune.problem import Problem
    from .tune.search import search

    nbytes = parse_budget(budget)
    if task is not None:
        check_choice("task", task, TASKS)
    if time_limit is not None:
        check_number("time_limit", time_limit, 0.0, open_ends=True)
    seed, started = resolve_seed(random_state), time.monotonic()
    X = as_checked(X)  # the teacher, too, sees missing values where entries are masked
    columns = as_columns(X)
    check_not_empty(columns.numbers)
    targets = read_targets(model, X, y, task, len(columns.numbers))
    problem = Problem.of(
        columns.numbers,
        targets.labels,
        targets.answers,
        targets.task,
        classes=targets.classes,
        n_categories={place: len(labels) for place, labels in _told_apart(columns).items()},
        seed=seed,
    )
    if targets.outputs is not None and is_refittable(model):
        limit = LONGEST if time_limit is None else min(LONGEST, time_limit / 3)
        answers = answers_out_of_fold(
            model, X, y, problem.kept, targets.outputs, seed=seed, longest=limit, progress=progress
        )
        problem = problem if answers is None else problem.answered(answers)
    narrow = problem.narrowed(MOST_COLUMNS)
    best = search(narrow, nbytes, seed=seed, time_limit=time_limit, progress=progress)[0]
    company = None
    if not problem.spares_none and time.monotonic() - started < (time_limit or float("inf")):
        company = Company.of(narrow, best, nbytes, seed)
    if company is not None and company.verdict is not None and progress:
        print(company.verdict, file=sys.stderr)
    form = best.form
    if not problem.spares_none:  # intervals come from rows that the judged form had not seen
        judged = calibrated(best.judged, columns.numbers[problem.held], targets.labels[problem.held])
        form = replace(form, intervals=judged.intervals)
    return CompiledSketch(_with_names(form, columns), summary=company)


def _told_apart(columns: Columns) -> dict[int, tuple[str, ...]]:
    """The categorical columns that tell something: of two labels at least. A single one is a constant number."""
    return {place: labels for place, labels in columns.categories.items() if len(labels) > 1}


def _with_names(form: Form, columns: Columns) -> Form:
    used = range(form.n_features) if form.inputs.columns is None else form.inputs.columns.tolist()
    known = _told_apart(columns)
    labels = tuple(known[place] for place in used if place in known)
    return replace(form, feature_names=columns.names, categories=labels or None)


def read_targets(model: Any, X: Any, y: Any, task: str | None, n_rows: int) -> Targets:
    """Labels and a teacher's answers for the rows of X."""
    if model is None and y is None:
        raise InputError("neither a model nor y was given; allowed is either or both.")
    if model is None:
        labels, task, classes = _read_labels(y, n_rows, task, None)
        return Targets(labels, None, task, classes)
    from .tune.folds import as_chances

    outputs = as_teacher(model, task).label(X)
    if len(outputs.values) != n_rows:
        raise InputError(f"the model answers {len(outputs.values)} rows for the {n_rows} of X.")
    if outputs.task == "classification":
        outputs = in_order(outputs, None if y is None or hasattr(model, "classes_") else _as_array(y))
    answers = as_chances(outputs)
    if y is None:
        return Targets(answers, None, outputs.task, outputs.classes)
    labels, _, classes = _read_labels(y, n_rows, outputs.task, outputs.classes)
    if labels.shape != answers.shape:
        raise InputError(f"the model has {answers.shape[1]} outputs, y {labels.shape[1]}; they must agree.")
    return Targets(labels, answers, outputs.task, classes, outputs)


def in_order(outputs: TeacherOutputs, y: np.ndarray | None) -> TeacherOutputs:
    """Outputs with the classes in rising order; columns that are only counted are the sorted labels of y, if as many.

    >>> in_order(TeacherOutputs(np.array([[2.0]]), "classification", np.array(["no", "ay"])), None)
    TeacherOutputs(values=array([[-2.]]), task='classification', classes=array(['ay', 'no'], dtype='<U2'))
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
    return replace(outputs, values=values, classes=classes[order])


def _as_array(y: Any) -> np.ndarray:
    return np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else check_not_masked(y, "y"))


def _read_labels(
    y: Any, n_rows: int, task: str | None, classes: np.ndarray | None
) -> tuple[np.ndarray, str, np.ndarray | None]:
    values = _as_array(y)
    if values.shape[:1] != (n_rows,) or values.ndim > 2:
        raise InputError(f"y has shape {values.shape}; allowed is one entry for each of the {n_rows} rows of X.")
    task = task or _guess_task(values)
    if task == "regression":
        return as_outputs(values, n_rows, "y"), task, None
    if values.ndim == 2 and values.shape[1] != 1:
        raise InputError(f"y has {values.shape[1]} columns; allowed is one column of labels.")
    values = values.reshape(-1)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"y holds NaN or infinity at row {int(np.argmin(np.isfinite(values)))}; drop such rows.")
    found = np.unique(values)
    classes = found if classes is None else classes
    unknown = np.setdiff1d(found, classes)
    if len(unknown):
        raise InputError(
            f"y holds {unknown[:4].tolist()}, which the model does not know; it has {classes.tolist()[:8]}."
        )
    if len(classes) < 2:
        raise InputError(f"y holds one class only, {found.tolist()[0]!r}; a classifier needs at least two.")
    order = np.argsort(classes)
    places = order[np.searchsorted(classes, values, sorter=order)]
    chances = np.eye(len(classes))[places]
    return (chances[:, 1:] if len(classes) == 2 else chances), task, classes


def _guess_task(values: np.ndarray) -> str:
    if values.dtype.kind in "bOUST":
        return "classification"
    if values.ndim == 2 and values.shape[1] > 1:
        return "regression"
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    is_whole = bool((finite == np.floor(finite)).all())
    return "classification" if is_whole and len(np.unique(finite)) <= _FEW_CLASSES else "regression"
