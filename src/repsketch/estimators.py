"""scikit-learn estimators around ``compress``: ``fit`` takes a trained teacher or trains one, and compresses it."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from .checks import check_choice
from .compress import compress
from .data.arrays import as_checked, check_not_masked
from .data.frames import collected, is_frame
from .data.repeats import arranged
from .data.targets import as_labels
from .errors import InputError
from .predictor import to_choice, to_probabilities
from .teacher import as_teacher
from .teacher.default import default_teacher
from .teacher.targets import in_order
from .train.budget import parse_budget
from .train.clock import Clock
from .train.effort import EFFORTS
from .train.goal import Goal

_READING = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
_FEW_ROWS = 64


class _SketchEstimator(BaseEstimator):
    """What the classifier and the regressor share."""

    def __init__(
        self, teacher: Any, budget: int | str, effort: str, time_limit: float | None, random_state: Any, progress: bool
    ) -> None:
        self.teacher = teacher
        self.budget = budget
        self.effort = effort
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Table, labels and weights, checked and arranged, and the rows that they are, as from ``arranged``.

        A frame stays one: its text is categories.
        """
        X, y = self._checked(X, y)
        return arranged(X, y, Goal(sample_weight=sample_weight).row_weights(len(y)))

    def _checked(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        is_numeric = isinstance(self, RegressorMixin)
        X, y = as_checked(collected(X)), check_not_masked(y, "y")
        if not is_frame(X):
            return validate_data(self, X, y, y_numeric=is_numeric, ensure_min_samples=2, **_READING)
        validate_data(self, X, skip_check_array=True)  # names and number of columns
        labels = column_or_1d(as_labels(y), warn=True)
        check_consistent_length(X, labels)
        if len(labels) < 2:
            raise InputError(f"Found array with {len(labels)} sample(s); a minimum of 2 is required by {self!r:.40}.")
        return X, labels

    def _fit(
        self, table: Any, y: np.ndarray, weights: np.ndarray | None, rows: np.ndarray | None, task: str, **goal: Any
    ) -> None:
        """Compress the teacher, trained first if there is none; ``goal``: loss, metric and weights of classes.

        ``rows`` are those of the user's table that ``table`` holds, or None for all of them.
        """
        parse_budget(self.budget)  # invalid parameters are refused before anything is trained
        Goal(**goal)
        check_choice("effort", self.effort, EFFORTS)
        seed = int(check_random_state(self.random_state).randint(2**31))
        teacher, clock = self.teacher, Clock(self.time_limit)
        if teacher is None and EFFORTS[self.effort].has_teacher:  # here and not in compress: users may look at it
            loss = {name: goal[name] for name in ("loss", "quantile") if name in goal}
            teacher = default_teacher(
                table, y, task, seed=seed, time_limit=self.time_limit, progress=self.progress, sample_weight=weights,
                **loss,
            )  # fmt: skip
        of_rows = teacher[rows] if isinstance(teacher, np.ndarray) and rows is not None else teacher
        sketch = compress(
            of_rows, table, y, budget=self.budget, task=task, effort=self.effort, random_state=seed,
            time_limit=clock.limit_left, progress=self.progress, sample_weight=weights, **goal,
        )  # fmt: skip
        self.teacher_, self.sketch_ = teacher, sketch

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "sketch_")
        X = as_checked(collected(X))
        if not is_frame(X):
            return self.sketch_.outputs(validate_data(self, X, reset=False, **_READING))
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.sketch_.outputs(X)


class SketchClassifier(ClassifierMixin, _SketchEstimator):
    """A classifier that is a sketch of ``budget`` bytes, the best that ``repsketch.compress`` finds.

    Parameters
    ----------
    teacher : a trained model as for ``repsketch.compress``; None trains gradient-boosted trees. The columns of a
        teacher that does not say its classes are taken to be in the sorted order of ``classes_``
    budget : bytes of the sketch at most, such as 700, "512B", "4KB", "1MB"
    metric : name of a scorer of scikit-learn by which the sketch is chosen, such as "roc_auc"; None for the log loss
    class_weight : None, "balanced", or a dictionary from labels to weights
    effort : "fast", "normal" or "thorough": how long to search
    time_limit : seconds that training and search may take, about
    random_state : None, an integer or a NumPy RandomState

    Attributes
    ----------
    sketch_ : the ``CompiledSketch``, to be saved; its ``summary`` compares it with other models of the same bytes
    teacher_ : the teacher used; None where ``effort="fast"`` and no teacher was given
    classes_ : (C,) labels
    n_features_in_ : number of features

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SketchClassifier(budget="512B", time_limit=2.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.sketch_.nbytes <= 512
    (True, True)
    """

    def __init__(
        self,
        teacher: Any = None,
        budget: int | str = "4KB",
        *,
        metric: str | None = None,
        class_weight: Any = None,
        effort: str = "normal",
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ):
        super().__init__(teacher, budget, effort, time_limit, random_state, progress)
        self.metric = metric
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SketchClassifier":
        """Fit the sketch to the teacher and the labels y (n,) on X (n, d), numbers, NaN, or a frame with text.

        ``sample_weight`` (n,): weights of the rows, from 0 up.
        """
        X, y, weights, rows = self._read(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError(
                f"y holds one class only, {self.classes_[0]!r}; a classifier needs at least two classes in the data."
            )
        if self.teacher is not None:  # checked on a few rows, before hours of work
            few = X[:_FEW_ROWS]
            outputs = as_teacher(self.teacher, "classification").label(few, self.classes_)
            known = in_order(outputs, None if hasattr(self.teacher, "classes_") else y).classes
            if known is None or not np.array_equal(known, self.classes_):
                raise InputError(
                    f"the teacher has the classes {np.array(known).tolist()}, y holds {self.classes_.tolist()}; "
                    "they must agree."
                )
        self._fit(X, y, weights, rows, "classification", metric=self.metric, class_weight=self.class_weight)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds (n,) of the second class, or logits (n, C)."""
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities (n, C)."""
        return to_probabilities(self._outputs(X))

    def predict(self, X: Any) -> np.ndarray:
        """Labels (n,)."""
        choice = to_choice(self._outputs(X))
        return self.classes_[choice]


class SketchRegressor(RegressorMixin, _SketchEstimator):
    """A regressor that is a sketch of ``budget`` bytes, the best that ``repsketch.compress`` finds.

    Parameters
    ----------
    teacher, budget, effort, time_limit, random_state : as for ``SketchClassifier``
    loss : "squared_error", "absolute_error", or "quantile" with its level ``quantile``, between 0 and 1
    metric : name of a scorer of scikit-learn by which the sketch is chosen, such as "r2"; None for the loss

    Attributes
    ----------
    sketch_, teacher_, n_features_in_ : as of ``SketchClassifier``

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SketchRegressor(budget="512B", time_limit=2.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4), model.sketch_.nbytes <= 512
    (True, True)
    """

    def __init__(
        self,
        teacher: Any = None,
        budget: int | str = "4KB",
        *,
        loss: str = "squared_error",
        quantile: float | None = None,
        metric: str | None = None,
        effort: str = "normal",
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ):
        super().__init__(teacher, budget, effort, time_limit, random_state, progress)
        self.loss = loss
        self.quantile = quantile
        self.metric = metric

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SketchRegressor":
        """Fit the sketch to the teacher and the values y (n,) on X (n, d), numbers, NaN, or a frame with text.

        ``sample_weight`` (n,): weights of the rows, from 0 up.
        """
        X, y, weights, rows = self._read(X, y, sample_weight)
        self._fit(X, y, weights, rows, "regression", loss=self.loss, quantile=self.quantile, metric=self.metric)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Values (n,), float64."""
        return self._outputs(X)[:, 0].astype(np.float64)
