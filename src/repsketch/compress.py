"""The one call: a teacher, data and a budget in bytes become a sketch.

Takes a trained model or none, a raw table and labels or none; hands on the best sketch that was found within the
budget, in the int precision.
"""

import logging
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import check_choice, check_number
from .data.arrays import as_checked, check_not_empty
from .data.frames import Columns, as_columns, collected
from .data.repeats import arranged
from .data.targets import as_labels
from .errors import InputError, require
from .lsh.generator import resolve_seed
from .model.intervals import Intervals
from .model.model import Model
from .parallel import n_threads
from .predictor import TASKS
from .progress import notify
from .runtime import runtime_for
from .sketch import CompiledSketch
from .teacher.targets import Targets, read_targets
from .train.budget import parse_budget
from .train.clock import Clock

if TYPE_CHECKING:
    from .train.effort import SearchEffort
    from .train.goal import Goal
    from .train.training_data import TrainingData

MAX_COLUMNS = 256  # columns in use; of wider tables, those with the largest gain
SEARCH_SHARE = 0.75  # of the remaining time limit; the rest is for the comparison
logger = logging.getLogger(__name__)


def compress(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    budget: int | str = "4KB",
    task: str | None = None,
    loss: str | None = None,
    quantile: float | None = None,
    metric: str | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    effort: str = "normal",
    random_state: Any = None,
    time_limit: float | None = None,
    progress: bool = True,
) -> CompiledSketch:
    """The best sketch of at most ``budget`` bytes that imitates ``model`` on data like ``X``.

    Parameters
    ----------
    model : a trained model as for ``distill``; or an array (n,) or (n, C) of the outputs of one for the rows of X, such
        as out-of-fold probabilities; None to train one on ``y``, gradient-boosted trees
    X : (n, d) array, scipy sparse matrix or data frame; text columns are categories, NaN and null are missing values
    y : (n,) true labels or values, worth giving: a teacher is overconfident on the rows it was trained on
    budget : bytes a device may hold, such as 700, "512B", "4KB", "1MB"
    task : "classification" or "regression", where it cannot be inferred
    loss : of a regression: "squared_error" (the default), "absolute_error", or "quantile" with its level ``quantile``
    metric : name of a scorer of scikit-learn by which sketches are chosen, such as "roc_auc" or "average_precision";
        None for the loss
    sample_weight : (n,) weights of the rows, from 0 up; in small arrays and sparse matrices a row of weight 2 is the
        same as two rows, and the order of rows has no meaning
    class_weight : "balanced", or a dictionary from labels to weights
    effort : "fast", "normal" or "thorough": how many models to train, and for how long
    random_state : seed of everything random; the same seed gives the same bytes
    time_limit : seconds that the call may take, about; fits are then cut short or given up

    Returns
    -------
    CompiledSketch
        ``summary`` compares it with boosted trees, an int8 network and a linear model of the same bytes on the same
        validation rows; unless ``progress`` is off, a peer that is better, or as good in fewer bytes, is also named
        on the standard error

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> sketch = compress(lambda X: np.sin(X[:, 0]), X, budget="256B", task="regression", progress=False)
    >>> sketch.nbytes <= 256, bool(np.abs(sketch.predict(X) - np.sin(X[:, 0])).mean() < 0.2)
    (True, True)
    """
    return compress_with_effort(
        model, X, y, budget=budget, task=task, loss=loss, quantile=quantile, metric=metric,
        sample_weight=sample_weight, class_weight=class_weight, effort=effort, random_state=random_state,
        time_limit=time_limit, progress=progress,
    )  # fmt: skip


def compress_with_effort(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    budget: int | str = "4KB",
    task: str | None = None,
    loss: str | None = None,
    quantile: float | None = None,
    metric: str | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    effort: "str | SearchEffort" = "normal",
    random_state: Any = None,
    time_limit: float | None = None,
    progress: bool = True,
) -> CompiledSketch:
    """``compress``, to which the effort of its search may be given as data."""
    require("sklearn", "train")
    from .compare.compare import compare
    from .teacher.default import default_teacher, is_default
    from .teacher.out_of_fold import MAX_SECONDS, is_refittable, out_of_fold_outputs
    from .train.effort import EFFORTS
    from .train.goal import Goal
    from .train.search import search

    nbytes = parse_budget(budget)
    if task is not None:
        check_choice("task", task, TASKS)
    if time_limit is not None:
        check_number("time_limit", time_limit, 0.0, open_ends=True)
    search_effort = EFFORTS[check_choice("effort", effort, EFFORTS)] if isinstance(effort, str) else effort
    goal = Goal(loss, quantile, metric, sample_weight, class_weight)
    seed, clock = resolve_seed(random_state), Clock(time_limit)
    X = as_checked(collected(X))  # masked entries are missing values, also for the teacher
    columns = as_columns(X)
    check_not_empty(columns.numbers)
    weights = goal.row_weights(len(columns.numbers))
    y = None if y is None else as_labels(y)
    if not isinstance(model, np.ndarray) and (y is None or y.shape[:1] == (len(columns.numbers),)):
        X, y, weights, rows = arranged(X, y, weights)
        columns = columns if rows is None else replace(columns, numbers=columns.numbers[rows])
        goal = replace(goal, sample_weight=weights)
    unused = _unused(columns, progress)
    if model is None and y is not None:
        model = default_teacher(
            X, y, task, seed=seed, time_limit=time_limit, progress=progress, loss=loss, quantile=quantile,
            sample_weight=weights,
        )  # fmt: skip
    targets = read_targets(model, X, y, task, len(columns.numbers))
    logger.info("%s of %d rows and %d columns", targets.task, *columns.numbers.shape)
    columns, data = _training_data(columns, unused, targets, goal, seed, progress)
    if targets.outputs is not None and is_refittable(model):
        limit = min(MAX_SECONDS, clock.seconds_left / 3)
        soft_labels = out_of_fold_outputs(
            model, X, y, data.train_rows, targets.outputs, seed=seed, max_seconds=limit, progress=progress,
            sample_weight=weights, groups=data.groups, n_threads=n_threads() if is_default(model) else 1,
        )  # fmt: skip
        if soft_labels is not None:
            data = data.with_soft_labels(goal.reweighted(soft_labels, targets.labels, targets.classes))
    narrow = data.narrowed(MAX_COLUMNS, clock.seconds_left)
    left = None if time_limit is None else max(SEARCH_SHARE * clock.seconds_left, 1e-3)
    best = search(narrow, nbytes, seed=seed, time_limit=left, progress=progress, effort=search_effort)[0]
    logger.info("chosen: %s, %d bytes", best.name, best.model.nbytes)
    summary = compare(narrow, best, nbytes, seed, clock.seconds_left)
    if summary.conclusion is not None:
        notify(logger, summary.conclusion, enabled=progress)
    deployed = best.model
    if targets.task == "regression" and not data.trains_on_all:  # the fitted model has not seen the validation rows
        outputs = runtime_for(best.fitted).outputs(columns.numbers[data.validation_rows])
        deployed = replace(deployed, intervals=Intervals.of(outputs, targets.labels[data.validation_rows]))
    return CompiledSketch(_with_names(deployed, columns, unused), summary=summary)


def _training_data(
    columns: Columns, unused: Collection[int], targets: Targets, goal: "Goal", seed: int, progress: bool
) -> "tuple[Columns, TrainingData]":
    """The table with the labels that are used, and the training data of its columns in use."""
    from .train.selection import informative_labels
    from .train.training_data import TrainingData

    soft_labels = targets.soft_labels
    if soft_labels is not None:
        soft_labels = goal.reweighted(soft_labels, targets.labels, targets.classes)
    data = TrainingData.of(
        columns.numbers,
        targets.labels,
        soft_labels,
        targets.task,
        classes=targets.classes,
        n_categories=_label_counts(columns, unused),
        seed=seed,
        **goal.options(targets.task, targets.labels, targets.classes),
    )
    some = informative_labels(data, {p: labels for p, labels in columns.categories.items() if p not in unused})
    if some:
        n_labels = max(map(len, some.values()))
        cut = ", ".join(f"{_name(columns, place)} ({len(columns.categories[place])} labels)" for place in some)
        notify(
            logger,
            f"the {n_labels} most informative labels are used of {cut}; the others become one category",
            enabled=progress,
        )
        columns = columns.with_labels(some)
        data = data.with_table(columns.numbers, _label_counts(columns, unused))
    if unused:
        data = data.using(np.setdiff1d(np.arange(columns.numbers.shape[1]), list(unused)))
    return columns, data


def _unused(columns: Columns, progress: bool) -> dict[int, str]:
    """Columns that are left out, by index, and why; at least one column stays."""
    from .train.selection import CONSTANT, unused_columns

    unused = unused_columns(columns)
    if len(unused) == columns.numbers.shape[1]:
        shown = "; ".join(f"{_name(columns, place)} {why}" for place, why in list(unused.items())[:8])
        raise InputError(
            f"no column of X can be used: {shown}. Give a column that repeats across rows; to force "
            "the use of one, make it a categorical dtype, or float for numbers."
        )
    reasons = [f"{_name(columns, place)} {why}" for place, why in unused.items() if why != CONSTANT]
    if reasons:
        how = "to use one, make it a categorical dtype, or float; --use does on the command line"
        notify(logger, f"not used: {'; '.join(reasons)} ({how})", enabled=progress)
    return unused


def _name(columns: Columns, place: int) -> str:
    return repr(columns.names[place]) if columns.names else f"column {place}"


def _label_counts(columns: Columns, unused: Collection[int]) -> dict[int, int]:
    """Number of labels of each categorical column in use."""
    return {place: len(labels) for place, labels in columns.categories.items() if place not in unused}


def _with_names(deployed: Model, columns: Columns, unused: Collection[int]) -> Model:
    used = range(deployed.n_features) if deployed.inputs.columns is None else deployed.inputs.columns.tolist()
    labels = tuple(columns.categories[place] for place in used if place in columns.categories and place not in unused)
    return replace(deployed, feature_names=columns.names, categories=labels or None)
