"""One dataset with one seed, the same for all methods: training rows, validation rows, soft labels, test rows."""

import hashlib
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from repsketch.predictor import to_choice
from repsketch.train.training_data import TrainingData

from .data import MOST_ROWS, Table, dataset_of
from .settings import OURS, QUICK_ROWS, REVISIONS


@dataclass(frozen=True, order=True)
class Job:
    """One piece of work: a method, or the teacher, on one dataset with one seed, at some budgets."""

    dataset: str
    seed: int
    method: str
    budgets: tuple[int, ...] = ()
    is_quick: bool = False

    def __str__(self) -> str:
        return f"{self.dataset} {self.method}, seed {self.seed}"

    @property
    def key(self) -> str:
        """A file name that changes with the job and with what its method and its teacher compute.

        >>> Job("wine", 0, "linear", (256,)).key == Job("wine", 0, "linear", (512,)).key
        False
        """
        what = repr((asdict(self), REVISIONS.get(self.method, REVISIONS[OURS]), REVISIONS["teacher"]))
        digest = hashlib.sha256(what.encode()).hexdigest()[:16]
        return f"{self.dataset}-{self.method.replace(' ', '-')}-{self.seed}-{digest}"


@dataclass(frozen=True)
class Case:
    """The data of a job."""

    dataset: str
    seed: int
    is_quick: bool = False

    @cached_property
    def table(self) -> Table:
        """Training rows, at most so many as all methods get, and test rows."""
        table = dataset_of(self.dataset).load(self.seed)
        most = QUICK_ROWS if self.is_quick else MOST_ROWS
        if len(table.X_train) <= most:
            return table
        chosen = np.random.default_rng([self.seed, 9]).choice(len(table.X_train), most, replace=False)
        return replace(table, X_train=table.X_train[chosen], y_train=table.y_train[chosen])

    @cached_property
    def plain(self) -> TrainingData:
        """The training data, without a teacher."""
        table = self.table
        labels = table.y_train[:, None].astype(np.float64)
        if table.n_classes > 2:
            labels = np.eye(table.n_classes)[table.y_train]
        classes = np.arange(table.n_classes) if table.n_classes else None
        return TrainingData.of(
            table.X_train, labels, None, table.task,
            classes=classes, n_categories=dict(table.n_categories), seed=self.seed, loss="absolute_error",
        )  # fmt: skip

    def taught(self, soft_labels: np.ndarray) -> TrainingData:
        """The training data with a teacher's soft labels (n, C): probabilities, or values."""
        return self.plain.with_soft_labels(soft_labels)

    def score(self, outputs: np.ndarray) -> float:
        """Accuracy, or mean absolute error, of outputs (n, C) for the test rows."""
        if self.table.task == "regression":
            return float(np.abs(outputs[:, 0] - self.table.y_test).mean())
        return float((to_choice(outputs) == self.table.y_test).mean())


def soft_labels_path(cache: Path, job: Job) -> Path:
    """Where the soft labels of a job's teacher are stored."""
    teacher = replace(job, method="teacher", budgets=())
    return cache / "soft_labels" / f"{teacher.key}.npy"
