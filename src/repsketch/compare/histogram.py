"""Boosted trees by scikit-learn, where LightGBM is not installed: bytes counted and leaves rounded in the same way."""

from typing import Any

import numpy as np

from ..errors import InputError, require
from ..model.numbers import decode_bfloat16
from .boosted import MIN_LEAF_ROWS, USUAL_LEAF_ROWS, Boosted, has_splits
from .peer import PeerModel, stored_offset, validation_loss
from .trees import integer_leaves, tree_nbytes
from .tuning import Settings

MAX_ROUNDS = 200
MAX_CATEGORIES = 255  # that scikit-learn splits into sets; columns of more are treated as numbers


class HistogramBoosted(Boosted):
    """``HistGradientBoosting`` trees, cut to the budget. They are fitted to labels alone: it takes no soft labels."""

    def _cut(self, setting: Settings, room: int) -> PeerModel:
        """The first rounds that fit and do best on the validation rows."""
        # Small trees lose more time to waiting threads than they gain; the limit is this thread's alone.
        with require("threadpoolctl", "train").threadpool_limits(1, "openmp"):
            return self._cut_in_one_thread(setting, room)

    def _cut_in_one_thread(self, setting: Settings, room: int) -> PeerModel:
        data, n_outputs = self.data, self.data.n_outputs
        model = self._fitted_model(setting, room)
        rounds = [[predictor.nodes for predictor in trees] for trees in model._predictors]
        sizes = np.cumsum([sum(tree_nbytes(int(nodes["is_leaf"].sum())) for nodes in trees) for trees in rounds])
        start = np.reshape(model._baseline_prediction, -1).astype(np.float64)
        n_fitting = max(1, int(np.searchsorted(sizes, room, side="right")))
        columns = self._columns(data.X[data.validation_rows])
        staged = model.staged_predict if data.task == "regression" else model.staged_decision_function
        losses = []
        for _, outputs in zip(range(n_fitting), staged(columns), strict=False):
            losses.append(data.validation_objective.loss(np.reshape(outputs, (len(columns), n_outputs))))
        n_rounds = min(n_fitting, setting.get("n_rounds") or 1 + int(np.argmin(losses)))
        chosen = rounds[:n_rounds]
        leaves = np.concatenate([nodes["value"][nodes["is_leaf"] != 0] for trees in chosen for nodes in trees])
        stored_leaves, step = integer_leaves(leaves[:, None] * data.unit[0])
        unit = float(decode_bfloat16(step)[0]) / data.unit[0]
        for trees in chosen:  # the trees then add up the stored values
            for nodes in trees:
                nodes["value"] = np.clip(np.rint(nodes["value"] / unit), -127, 127) * unit
        del model._predictors[n_rounds:]
        offset = stored_offset(data, start * data.unit + data.middle)
        shift = decode_bfloat16(offset) if offset.dtype == np.uint16 else offset

        def outputs_of(X: np.ndarray) -> np.ndarray:
            raw = model._raw_predict(self._columns(X)).reshape(len(X), n_outputs)
            return (raw - start) * data.unit + shift

        return PeerModel(
            self.name,
            outputs_of,
            {"leaves": stored_leaves, "step": step, "offset": offset},
            validation_loss(data, outputs_of(data.X[data.validation_rows])),
            setting | {"n_trees": n_rounds * n_outputs},
            n_splits=len(leaves) - n_rounds * n_outputs,
        )

    def _columns(self, X: np.ndarray) -> np.ndarray:
        return X if self.data.columns is None else X[:, self.data.columns]

    def _fitted_model(self, setting: Settings, room: int) -> Any:
        data = self.data
        labels = data.labels[data.train_rows]
        kinds = data.kinds if data.columns is None else data.kinds[data.columns]
        n_rounds = 1 + room // (tree_nbytes(setting["n_leaves"]) * data.n_outputs)
        options = {
            "learning_rate": setting["rate"],
            "max_leaf_nodes": setting["n_leaves"],
            "l2_regularization": setting["penalty"],
            "min_samples_leaf": min(USUAL_LEAF_ROWS, max(MIN_LEAF_ROWS, len(labels) // 100)),
            "max_iter": min(n_rounds, MAX_ROUNDS),
            "early_stopping": False,
            "categorical_features": (kinds > 1) & (kinds <= MAX_CATEGORIES),
            "random_state": self.seed,
        }
        columns = self._columns(data.X[data.train_rows])
        if not has_splits(columns):
            raise InputError("no column varies, so that there is nothing to split.")
        if data.task == "regression" and data.n_outputs > 1:
            raise InputError(f"{data.n_outputs} outputs; scikit-learn's trees have one.")
        ensemble = require("sklearn.ensemble", "train")
        weights = None if data.weights is None else data.weights[data.train_rows]
        if data.task == "regression":
            level = data.level if data.loss == "quantile" else None
            model = ensemble.HistGradientBoostingRegressor(loss=data.loss, quantile=level, **options)
            return model.fit(columns, labels[:, 0], weights)
        classes = labels[:, 0] > 0.5 if data.n_outputs == 1 else labels.argmax(axis=1)
        return ensemble.HistGradientBoostingClassifier(**options).fit(columns, classes, weights)
