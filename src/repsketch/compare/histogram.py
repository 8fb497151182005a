"""Boosted trees by scikit-learn, where LightGBM is not installed: the same byte rule, the same rounding of leaves."""

from typing import Any

import numpy as np

from ..errors import InputError, require
from ..model.numbers import decode_bfloat16
from .boosted import FEWEST_ROWS_A_LEAF, USUAL_ROWS_A_LEAF, Boosted, has_splits
from .peer import Budgeted, held_loss, stored_offset
from .trees import tree_nbytes, whole_leaves
from .tuning import Settings

MOST_ROUNDS = 200
MOST_CATEGORIES = 255  # that scikit-learn splits into sets; columns of more are read as numbers


class HistogramBoosted(Boosted):
    """``HistGradientBoosting`` trees, cut to the bytes. Labels alone are learned: it takes no soft ones."""

    def fit(self, shape: Any, settings: list[Settings]) -> list[Budgeted]:
        """Models of at most so many bytes of trees."""
        with require("threadpoolctl", "train").threadpool_limits(1):  # to wait for others takes longer than such trees
            return super().fit(shape, settings)

    def _cut(self, setting: Settings, room: int) -> Budgeted:
        """The first rounds that fit and do best on the validation rows."""
        problem, n_outputs = self.problem, self.problem.n_outputs
        model = self._fitted_model(setting, room)
        rounds = [[predictor.nodes for predictor in trees] for trees in model._predictors]
        sizes = np.cumsum([sum(tree_nbytes(int(nodes["is_leaf"].sum())) for nodes in trees) for trees in rounds])
        start = np.reshape(model._baseline_prediction, -1).astype(np.float64)
        n_fitting = max(1, int(np.searchsorted(sizes, room, side="right")))
        columns = self._columns(problem.X[problem.held])
        staged = model.staged_predict if problem.task == "regression" else model.staged_decision_function
        losses = []
        for _, outputs in zip(range(n_fitting), staged(columns), strict=False):
            losses.append(problem.held_objective.loss(np.reshape(outputs, (len(columns), n_outputs))))
        n_rounds = min(n_fitting, setting.get("n_rounds") or 1 + int(np.argmin(losses)))
        kept = rounds[:n_rounds]
        leaves = np.concatenate([nodes["value"][nodes["is_leaf"] != 0] for trees in kept for nodes in trees])
        whole, step = whole_leaves(leaves[:, None] * problem.unit[0])
        unit = float(decode_bfloat16(step)[0]) / problem.unit[0]
        for trees in kept:  # the trees then add up what is stored
            for nodes in trees:
                nodes["value"] = np.clip(np.rint(nodes["value"] / unit), -127, 127) * unit
        del model._predictors[n_rounds:]
        offset = stored_offset(problem, start * problem.unit + problem.middle)
        shift = decode_bfloat16(offset) if offset.dtype == np.uint16 else offset

        def outputs_of(X: np.ndarray) -> np.ndarray:
            raw = model._raw_predict(self._columns(X)).reshape(len(X), n_outputs)
            return (raw - start) * problem.unit + shift

        return Budgeted(
            self.name,
            outputs_of,
            {"leaves": whole, "step": step, "offset": offset},
            held_loss(problem, outputs_of(problem.X[problem.held])),
            setting | {"n_trees": n_rounds * n_outputs},
            n_splits=len(leaves) - n_rounds * n_outputs,
        )

    def _columns(self, X: np.ndarray) -> np.ndarray:
        return X if self.problem.places is None else X[:, self.problem.places]

    def _fitted_model(self, setting: Settings, room: int) -> Any:
        problem = self.problem
        labels = problem.labels[problem.kept]
        kinds = problem.kinds if problem.places is None else problem.kinds[problem.places]
        n_rounds = 1 + room // (tree_nbytes(setting["n_leaves"]) * problem.n_outputs)
        options = {
            "learning_rate": setting["rate"],
            "max_leaf_nodes": setting["n_leaves"],
            "l2_regularization": setting["penalty"],
            "min_samples_leaf": min(USUAL_ROWS_A_LEAF, max(FEWEST_ROWS_A_LEAF, len(labels) // 100)),
            "max_iter": min(n_rounds, MOST_ROUNDS),
            "early_stopping": False,
            "categorical_features": (kinds > 1) & (kinds <= MOST_CATEGORIES),
            "random_state": self.seed,
        }
        columns = self._columns(problem.X[problem.kept])
        if not has_splits(columns):
            raise InputError("no column varies, so that there is nothing to split.")
        if problem.task == "regression" and problem.n_outputs > 1:
            raise InputError(f"{problem.n_outputs} outputs; scikit-learn's trees have one.")
        ensemble = require("sklearn.ensemble", "train")
        if problem.task == "regression":
            model = ensemble.HistGradientBoostingRegressor(loss="absolute_error", **options)
            return model.fit(columns, labels[:, 0])
        classes = labels[:, 0] > 0.5 if problem.n_outputs == 1 else labels.argmax(axis=1)
        return ensemble.HistGradientBoostingClassifier(**options).fit(columns, classes)
