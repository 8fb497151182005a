"""From what the user gives to what searches need: teacher, labels, soft labels, and the split into rows.

Takes a model or none, a raw table, labels or none, and the keywords of ``compress``; hands on ``Prepared``, which one
search or several at other sizes share. Copies of the teacher are trained here, once.
"""

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import check_choice, check_number
from .data.arrays import as_checked, check_not_empty
from .data.frames import Columns, as_columns, collected
from .data.repeats import arranged
from .data.targets import as_labels
from .errors import require
from .lsh.generator import resolve_seed
from .parallel import n_threads
from .predictor import TASKS
from .progress import notify
from .teacher.targets import Targets, read_targets
from .train.clock import Clock

if TYPE_CHECKING:
    from .train.effort import SearchEffort
    from .train.goal import Goal
    from .train.training_data import TrainingData

MAX_COLUMNS = 256  # columns in use; of wider tables, those with the largest gain
logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table, its labels and a teacher's soft labels, ready to be searched at any size.

    Attributes
    ----------
    columns : the table with the labels of categories that are used
    unused : columns that are left out, by index, and why
    targets : labels and the teacher's soft labels for all rows
    data : what models are trained on, with ``MAX_COLUMNS`` columns at most
    seed, clock, effort, progress : as given, the clock running
    is_unseen : False if the teacher's outputs are for rows it was trained on, since no copies of it were trained; of a
        model that cannot be trained again nobody knows its training rows
    """

    columns: Columns
    unused: dict[int, str]
    targets: Targets
    data: "TrainingData"
    seed: int
    clock: Clock
    effort: "SearchEffort"
    progress: bool
    is_unseen: bool

    @property
    def teacher_labels(self) -> np.ndarray | None:
        """What the teacher says about the validation rows (m, C), like ``data.labels``; None without a teacher.

        Without labels of the user, the labels are the teacher's: its own score is then the best there is.
        """
        soft_labels = self.data.labels if self.targets.is_taught else self.data.soft_labels
        return None if soft_labels is None else soft_labels[self.data.validation_rows]


def prepare(
    model: Any,
    X: Any,
    y: Any = None,
    *,
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
    needs_teacher: bool = False,
) -> Prepared:
    """The training data of ``compress``, whose keywords these are; ``effort`` may also be data.

    Without a model one is trained, if the effort says so or if it is needed.
    """
    require("sklearn", "train")
    from .teacher.default import default_teacher, is_default, untrained_teacher
    from .teacher.out_of_fold import MAX_SECONDS, is_refittable, out_of_fold_outputs
    from .train.effort import EFFORTS
    from .train.goal import Goal
    from .train.selection import left_out

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
    unused = left_out(columns, progress)
    copied, train = model, partial(
        default_teacher, X, y, task, seed=seed, time_limit=time_limit, progress=progress, loss=loss, quantile=quantile,
        sample_weight=weights,
    )  # fmt: skip
    if model is None and y is not None and (search_effort.has_teacher or needs_teacher):
        if time_limit is None:  # copies are all that is needed; with a limit, its time says how many trees they get
            copied = untrained_teacher(X, y, task, seed=seed, progress=progress, loss=loss, quantile=quantile)
        else:
            copied = model = train()
    targets = read_targets(model, X, y, task, len(columns.numbers))
    logger.info("%s of %d rows and %d columns", targets.task, *columns.numbers.shape)
    columns, data = _training_data(columns, unused, targets, goal, seed, progress)
    is_unseen = True
    if y is not None and is_refittable(copied):
        max_seconds = min(MAX_SECONDS, clock.seconds_left / 3) if model is not None else np.inf
        soft_labels = out_of_fold_outputs(
            copied, X, y, data.train_rows, targets, seed=seed, max_seconds=max_seconds, progress=progress,
            sample_weight=weights, groups=data.groups, n_threads=n_threads() if is_default(copied) else None,
        )  # fmt: skip
        is_unseen = soft_labels is not None
        if soft_labels is None and model is None:
            soft_labels = read_targets(train(), X, y, task, len(columns.numbers)).soft_labels
        if soft_labels is not None:
            data = data.with_soft_labels(goal.reweighted(soft_labels, targets.labels, targets.classes))
    narrow = data.narrowed(MAX_COLUMNS, clock.seconds_left)
    return Prepared(columns, unused, targets, narrow, seed, clock, search_effort, progress, is_unseen)


def _training_data(
    columns: Columns, unused: Collection[int], targets: Targets, goal: "Goal", seed: int, progress: bool
) -> "tuple[Columns, TrainingData]":
    """The table with the labels that are used, and the training data of its columns in use."""
    from .train.selection import informative_labels, label_counts, name_of
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
        n_categories=label_counts(columns, unused),
        seed=seed,
        **goal.options(targets.task, targets.labels, targets.classes),
    )
    some = informative_labels(data, {p: labels for p, labels in columns.categories.items() if p not in unused})
    if some:
        n_labels = max(map(len, some.values()))
        cut = ", ".join(f"{name_of(columns, place)} ({len(columns.categories[place])} labels)" for place in some)
        notify(
            logger,
            f"the {n_labels} most informative labels are used of {cut}; the others become one category",
            enabled=progress,
        )
        columns = columns.with_labels(some)
        data = data.with_table(columns.numbers, label_counts(columns, unused))
    if unused:
        data = data.using(np.setdiff1d(np.arange(columns.numbers.shape[1]), list(unused)))
    return columns, data
