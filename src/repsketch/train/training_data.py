"""What a sketch is trained on: a table, labels, soft labels, and the split into training and validation rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ..data.repeats import grouped, groups_of_equal
from ..model.inputs import LARGEST_VALUE, Inputs
from .candidates import Thresholds
from .columns import find_kinds, projected_inputs, ranged_inputs, standard_inputs
from .metric import Metric
from .objective import CLASSIFICATION_LOSS, REGRESSION_LOSSES, Objective, center_of, objective_of

MAX_GAIN_ROWS = 50_000  # by which columns are chosen
MIN_GAIN_ROWS, GAIN_VALUES_PER_SECOND = 2_000, 2_000_000  # the same, with a time limit
VALIDATION_FRACTION, MIN_VALIDATION_ROWS, MAX_VALIDATION_ROWS = 0.2, 5, 8_000


@dataclass(frozen=True, eq=False)
class TrainingData:
    """A table with its labels, split into training and validation rows.

    Attributes
    ----------
    X : (n, d) float32; a category is its index, NaN is missing
    kinds : (d,) as in ``Inputs``
    labels : (n, C) probabilities of classes (of the second, if there are two), or values in units of ``unit`` around
        ``middle``
    soft_labels : (n, C) the teacher's outputs in the same units, or None
    task : "classification" or "regression"
    unit, middle : (C,) an output is ``unit`` times the trained value plus ``middle``
    validation_rows : (m,) rows that hyper-parameters are chosen on
    columns : (U,) the columns in use, rising; None for all
    trains_on_all : the validation rows are training rows, too
    stops_early : gradient descent is stopped early by the validation rows; False in cross-validation, whose models are
        those that all rows would give
    has_missing : some value is missing, maybe in a row that is not in X
    loss : what is minimised: "log_loss", or one of ``REGRESSION_LOSSES``
    level : of the quantile, with the loss "quantile"
    weights : (n,) float64 weights of the rows in the loss, with mean 1, or None for 1
    score_weights : (n,) the same in scores, without weights of classes
    metric : the score that models are chosen by on the validation rows; None for the loss
    """

    X: np.ndarray
    kinds: np.ndarray
    labels: np.ndarray
    soft_labels: np.ndarray | None
    task: str
    classes: np.ndarray | None
    unit: np.ndarray
    middle: np.ndarray
    validation_rows: np.ndarray
    columns: np.ndarray | None = None
    trains_on_all: bool = False
    stops_early: bool = True
    has_missing: bool = False
    loss: str = CLASSIFICATION_LOSS
    level: float = 0.5
    weights: np.ndarray | None = None
    score_weights: np.ndarray | None = None
    metric: Metric | None = None

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        labels: np.ndarray,
        soft_labels: np.ndarray | None,
        task: str,
        *,
        classes: np.ndarray | None = None,
        n_categories: dict[int, int] | None = None,
        seed: int = 0,
        loss: str | None = None,
        level: float = 0.5,
        weights: np.ndarray | None = None,
        score_weights: np.ndarray | None = None,
        metric: Metric | None = None,
    ) -> "TrainingData":
        """Training data from probabilities or raw values (n, C); a fifth of the rows are validation rows.

        ``loss`` is that of a regression, None for the squared error.
        """
        order = grouped(np.random.default_rng([seed, 7]).permutation(len(X)), groups_of_equal(X, labels))
        validation_rows = order[: min(int(VALIDATION_FRACTION * len(X)), MAX_VALIDATION_ROWS)]
        trains_on_all = len(validation_rows) < MIN_VALIDATION_ROWS  # too few rows for a validation set
        train_rows = order if trains_on_all else order[len(validation_rows) :]
        validation_rows = np.sort(order if trains_on_all else validation_rows)
        unit, middle = np.ones(labels.shape[1]), np.zeros(labels.shape[1])
        if task == "regression":
            loss = REGRESSION_LOSSES[0] if loss is None else loss
            unit, middle = scale_of(labels[train_rows], loss, level, None if weights is None else weights[train_rows])
            labels = (labels - middle) / unit
            soft_labels = None if soft_labels is None else (soft_labels - middle) / unit
        kinds, has_missing = find_kinds(X, n_categories), bool(np.isnan(X).any())
        return cls(
            X,
            kinds,
            labels,
            soft_labels,
            task,
            classes,
            unit,
            middle,
            validation_rows,
            None,
            trains_on_all,
            True,
            has_missing,
            CLASSIFICATION_LOSS if task == "classification" else str(loss),
            level,
            weights,
            score_weights,
            metric,
        )

    def with_soft_labels(self, soft_labels: np.ndarray) -> "TrainingData":
        """The same data with other soft labels (n, C), probabilities or raw values."""
        return replace(self, soft_labels=(soft_labels - self.middle) / self.unit)

    def on_all_rows(self) -> "TrainingData":
        """The same data with all rows as training and validation rows, for hyper-parameters that have been chosen."""
        return replace(self, trains_on_all=True, validation_rows=np.arange(len(self.X)))

    def folds(self, n: int, seed: int) -> "tuple[TrainingData, ...]":
        """The data split in ``n`` ways for cross-validation, in the first as here; nothing stops early."""
        first = replace(self, stops_early=False)
        order = grouped(np.random.default_rng([seed, 10]).permutation(self.train_rows), self.groups)
        return first, *(replace(first, validation_rows=np.sort(rows)) for rows in np.array_split(order, n - 1))

    @cached_property
    def groups(self) -> np.ndarray:
        """(n,) numbers of the groups of equal rows, which are on one side of every split."""
        return groups_of_equal(self.X, self.labels)

    @cached_property
    def train_rows(self) -> np.ndarray:
        """(k,) the training rows, rising."""
        all_rows = np.arange(len(self.X))
        return all_rows if self.trains_on_all else np.setdiff1d(all_rows, self.validation_rows)

    def narrowed(self, max_columns: int, seconds: float = np.inf) -> "TrainingData":
        """The same data with at most ``max_columns`` columns, those with the largest gain.

        The gain of a column is what the best split of its values gains on the best constant, on training rows: as
        many of them as can be read in a small share of ``seconds``, and ``MAX_GAIN_ROWS`` at most.
        """
        if self.n_columns <= max_columns:
            return self
        n_rows = MAX_GAIN_ROWS
        if np.isfinite(seconds):
            n_rows = min(n_rows, max(MIN_GAIN_ROWS, int(GAIN_VALUES_PER_SECOND * seconds / self.n_values)))
        few = self.subset(n_rows, 0)
        objective = few.objective(few.train_rows, 0.0)
        slope, curvature = objective.slopes(np.repeat(objective.start()[None], len(few.train_rows), axis=0))
        numbers = np.concatenate([slope, curvature], axis=1).astype(np.float32)
        codes, _ = few.thresholds(few.ranged)
        gains = codes.gains(np.zeros(len(numbers), np.uint8), 1, numbers, 1.0)
        best = np.zeros(self.n_columns)
        np.maximum.at(best, np.repeat(np.arange(self.n_columns), np.diff(codes.starts)), gains)
        chosen = np.sort(np.argsort(-best, kind="stable")[:max_columns])
        return self.using(chosen if self.columns is None else self.columns[chosen])

    def subset(self, n_train: int, seed: int) -> "TrainingData":
        """The same data with at most ``n_train`` of the training rows and all validation rows."""
        if n_train >= len(self.train_rows):
            return self
        chosen = np.random.default_rng([seed, 8]).choice(self.train_rows, n_train, replace=False)
        rows = np.concatenate([np.sort(chosen), self.validation_rows])
        soft_labels = None if self.soft_labels is None else self.soft_labels[rows]
        validation_rows = np.arange(n_train, len(rows))
        weights, score_weights = (None if each is None else each[rows] for each in (self.weights, self.score_weights))
        return replace(
            self, X=self.X[rows], labels=self.labels[rows], soft_labels=soft_labels, weights=weights,
            score_weights=score_weights, validation_rows=validation_rows,
        )  # fmt: skip

    @property
    def n_columns(self) -> int:
        """Columns in use."""
        return self.X.shape[1] if self.columns is None else len(self.columns)

    @property
    def n_values(self) -> int:
        """Values that the columns in use become; a categorical column becomes one for each label."""
        return int(np.maximum(self.kinds if self.columns is None else self.kinds[self.columns], 1).sum())

    def with_table(self, X: np.ndarray, n_categories: dict[int, int]) -> "TrainingData":
        """The same data over another table (n, d) of the same columns, with these numbers of categories."""
        return replace(self, X=X, kinds=find_kinds(X, n_categories))

    def using(self, columns: np.ndarray) -> "TrainingData":
        """The same data with these columns (U,), rising, alone."""
        return replace(self, columns=columns)

    @property
    def n_outputs(self) -> int:
        """Outputs, C."""
        return self.labels.shape[1]

    def objective(self, rows: np.ndarray, mixture: float) -> Objective:
        """The loss of some rows; the soft labels have the weight ``mixture``, the labels the rest."""
        targets = self.labels[rows]
        if self.soft_labels is not None:
            targets = (1.0 - mixture) * targets + mixture * self.soft_labels[rows]
        weights = None if self.weights is None else self.weights[rows]
        return objective_of(self.loss, targets, weights, level=self.level)

    @cached_property
    def validation_objective(self) -> Objective:
        """The loss that hyper-parameters are chosen by: labels of the validation rows, without soft labels."""
        return self.objective(self.validation_rows, 0.0)

    def validation_losses(self, outputs: np.ndarray) -> np.ndarray:
        """What models are compared by, less being better, for outputs (m, C) of the validation rows.

        The loss (m,) of each row; with a metric, the negative score by the jackknife, a number for each group of rows.
        Outputs are in units of the targets.
        """
        if self.metric is None:
            return self.validation_objective.losses(outputs)
        labels = self.labels[self.validation_rows] * self.unit + self.middle
        return self.metric.losses(labels, outputs * self.unit + self.middle, self.validation_weights)

    @property
    def validation_weights(self) -> np.ndarray | None:
        """Weights (m,) of the validation rows in scores, or None for 1."""
        return None if self.score_weights is None else self.score_weights[self.validation_rows]

    def _inputs(self, read: Callable[[np.ndarray, np.ndarray], Inputs], kinds: np.ndarray) -> Inputs:
        """How the columns in use become values, by statistics of the training rows."""
        columns = np.arange(self.X.shape[1]) if self.columns is None else self.columns
        inputs = read(self.X[np.ix_(self.train_rows, columns)], kinds[columns])
        return replace(inputs, n_features=self.X.shape[1], columns=self.columns, accepts_missing=self.has_missing)

    @cached_property
    def ranged(self) -> Inputs:
        """Inputs for thresholds of one byte."""
        return self._inputs(ranged_inputs, self.kinds)

    @cached_property
    def finely_ranged(self) -> Inputs:
        """Inputs for thresholds of two bytes."""
        return self._inputs(partial(ranged_inputs, largest=LARGEST_VALUE), self.kinds)

    @cached_property
    def standard(self) -> Inputs:
        """Inputs for sums of columns."""
        return self._inputs(standard_inputs, self.kinds)

    def projected(self, scaling: str) -> Inputs:
        """Inputs for a projection."""
        return self._inputs(partial(projected_inputs, scaling=scaling), self.kinds)

    def thresholds(self, inputs: Inputs) -> tuple[Thresholds, Thresholds]:
        """Codes on single columns over the training and the validation rows."""
        train = Thresholds.between(inputs.values(self.X[self.train_rows]), inputs.kinds)
        return train, train.over(inputs.values(self.X[self.validation_rows]))


def scale_of(labels: np.ndarray, loss: str, level: float, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Unit and middle (C,) of values (n, C): their standard deviation, and the constant with the least loss."""
    middle, deviations = center_of(labels, loss, level, weights), labels.std(axis=0)
    return np.where(deviations > 1e-12 * np.maximum(1.0, np.abs(middle)), deviations, 1.0), middle
