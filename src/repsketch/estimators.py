"""scikit-learn estimators over the whole flow: teacher, kernel, sketch, refit.

``fit`` takes a trained teacher or trains one, distils it, builds the sketch that the budget allows
and refits its counters to the teacher's outputs.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .arrays import is_sparse
from .errors import InputError
from .kernel.distill import distill
from .predictor import to_choice, to_probabilities
from .sketch import build_sketch
from .sketch.build import spread_levels
from .teacher import TeacherOutputs, as_teacher
from .tune.budget import parse_budget, plan_for


class _SketchEstimator(BaseEstimator):
    """What the classifier and the regressor share."""

    def __init__(
        self,
        teacher: Any = None,
        budget: int | str = "4KB",
        *,
        n_points: int = 128,
        n_epochs: int | None = None,
        random_state: Any = None,
        progress: bool = False,
    ):
        self.teacher = teacher
        self.budget = budget
        self.n_points = n_points
        self.n_epochs = n_epochs
        self.random_state = random_state
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        numeric = isinstance(self, RegressorMixin)
        options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_min_samples": 2}
        return validate_data(self, X, y, y_numeric=numeric, **options)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31))

    def _label(self, given: Any, X: Any, y: np.ndarray, task: str, seed: int) -> TeacherOutputs:
        """Outputs of the teacher, trained first if there is none; a given one sees the table as it was given."""
        parse_budget(self.budget)  # a budget that means nothing is refused before anything is trained
        self.teacher_ = self.teacher
        if self.teacher is not None:
            return as_teacher(self.teacher, task).label(given)
        kind = HistGradientBoostingClassifier if task == "classification" else HistGradientBoostingRegressor
        leaf = max(1, min(20, X.shape[0] // 20))  # small data get small leaves
        dense = X.toarray() if is_sparse(X) else X
        self.teacher_ = kind(min_samples_leaf=leaf, random_state=seed).fit(dense, y)
        return as_teacher(self.teacher_).label(dense)

    def _fit_sketch(self, X: Any, labels: TeacherOutputs, seed: int) -> None:
        """Stages 1 and 2 within the budget, on validated inputs and their teacher outputs."""
        plan = plan_for(parse_budget(self.budget), X.shape[1], labels.values.shape[1])
        kernel = distill(
            labels,
            X,
            n_points=self.n_points,
            n_components=plan.n_components,
            n_epochs=self.n_epochs,
            random_state=seed,
            progress=self.progress,
        )
        hashed = spread_levels(kernel, X, plan.n_buckets)
        blank = build_sketch(hashed, plan.n_rows, plan.n_buckets, random_state=seed, fold="direct", progress=False)
        self.sketch_ = blank.refit(X, labels.values, random_state=seed, progress=self.progress)

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "sketch_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.sketch_.outputs(X)


class SketchClassifier(ClassifierMixin, _SketchEstimator):
    """A classifier that is a sketch of ``budget`` bytes.

    Parameters
    ----------
    teacher : a trained model as for ``repsketch.distill``; None trains gradient-boosted trees. One that knows
        no labels, or counts them 0, 1, ..., is taken to have its columns in the sorted order of ``classes_``
    budget : bytes of the sketch at most, such as 700, "512B", "4KB", "1MB"
    n_points : points of the kernel model in between
    n_epochs : passes of the distillation; None chooses by the number of rows
    random_state : None, an integer or a NumPy RandomState

    Attributes
    ----------
    sketch_ : the ``Sketch``
    teacher_ : the teacher used
    classes_ : (C,) labels
    n_features_in_ : number of features

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SketchClassifier(budget="2KB", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.sketch_.nbytes <= 2048
    (True, True)
    """

    def fit(self, X: Any, y: Any) -> "SketchClassifier":
        """Fit the sketch to the teacher's outputs on X (n, d); y (n,) are the labels."""
        given = X
        X, y = self._read(X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError(
                f"y holds one class only, {self.classes_[0]!r}; a classifier needs at least two classes in the data."
            )
        seed = self._seed()
        labels = self._label(given, X, y, "classification", seed)
        self._fit_sketch(X, self._in_order(labels), seed)
        self.sketch_ = replace(self.sketch_, classes=self.classes_)
        return self

    def _in_order(self, labels: TeacherOutputs) -> TeacherOutputs:
        """The teacher's columns in the order of ``classes_``."""
        known = labels.classes
        if known is None or np.array_equal(known, self.classes_):
            return labels
        if np.array_equal(known, np.arange(len(self.classes_))):  # a teacher that only counts its columns
            return labels
        if set(known.tolist()) != set(self.classes_.tolist()):
            raise InputError(
                f"the teacher knows the classes {known.tolist()}, y holds {self.classes_.tolist()}; they must agree."
            )
        order = [known.tolist().index(label) for label in self.classes_.tolist()]
        values = labels.values[:, order] if len(known) > 2 else -labels.values
        return TeacherOutputs(values, labels.task, self.classes_)

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
    """A regressor that is a sketch of ``budget`` bytes.

    Parameters and attributes as for ``SketchClassifier``, without classes.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SketchRegressor(budget="2KB", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4), model.sketch_.nbytes <= 2048
    (True, True)
    """

    def fit(self, X: Any, y: Any) -> "SketchRegressor":
        """Fit the sketch to the teacher's outputs on X (n, d); y (n,) are the values."""
        given = X
        X, y = self._read(X, y)
        seed = self._seed()
        labels = self._label(given, X, y, "regression", seed)
        if labels.values.shape[1] != 1:
            raise InputError(f"the teacher has {labels.values.shape[1]} outputs; SketchRegressor takes one.")
        self._fit_sketch(X, labels, seed)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Values (n,), float64."""
        return self._outputs(X)[:, 0].astype(np.float64)
