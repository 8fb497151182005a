"""Boosted trees by LightGBM, packed as tightly as trees can be, with leaves rounded to one byte each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np

from ..errors import InputError, require
from ..model.numbers import decode_bfloat16
from ..parallel import Workers
from ..train.objective import Objective, Softmax
from ..train.training_data import TrainingData
from .peer import PeerModel, offset_nbytes, stored_offset, validation_loss
from .trees import FIXED, MAX_TREES, PATIENCE, STEP_NBYTES, integer_leaves, leaf_sums, tree_nbytes
from .tuning import PeerMethod, Settings, tune_each

#: By budget in bytes, up to the key: leaves of a tree and learning rates to try. Few trees need a high learning rate.
CHOICES = {
    1_024: ((2, 4, 8, 16), (0.3, 0.6, 1.0)),
    4_096: ((4, 8, 16, 31), (0.1, 0.3, 0.6)),
    1 << 40: ((4, 8, 16, 31), (0.05, 0.1, 0.3)),
}
#: LightGBM's names of losses with one output.
OBJECTIVES = {
    "log_loss": "cross_entropy",
    "squared_error": "regression",
    "absolute_error": "regression_l1",
    "quantile": "quantile",
}
PENALTIES = (0.0, 3.0, 30.0)  # L2 regularisation of leaves; only the first with a teacher
ROUNDS_PER_CHECK = 25
FEW_ROWS = 200  # with fewer rows LightGBM may have bins of one row, or it would find nothing to split
MIN_LEAF_ROWS, USUAL_LEAF_ROWS = 3, 20


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """Trees in rounds of one for each output.

    Attributes
    ----------
    booster : of LightGBM
    start : (C,) outputs before the first round
    leaves : leaf values of every tree
    nbytes : (rounds,) bytes of all trees up to each round
    losses : (rounds,) validation loss after each round
    """

    booster: Any
    start: np.ndarray
    leaves: list[np.ndarray]
    nbytes: np.ndarray
    losses: np.ndarray


class Boosted(PeerMethod):
    """Trees grown once for the largest budget; a smaller budget takes the first of them."""

    name = "boosted trees"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._grown: dict[str, GrownTrees] = {}

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Leaves of a tree, learning rates, penalties, and weights of the soft labels."""
        choices = next(choice for max_nbytes, choice in CHOICES.items() if nbytes <= max_nbytes)
        penalties = PENALTIES[:1] if self.is_distilled else PENALTIES
        for n_leaves, rate, penalty, mixture in product(*choices, penalties, self.mixtures):
            yield {"n_leaves": n_leaves, "rate": rate, "penalty": penalty, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> int | None:
        """Bytes left for trees, if one round of them fits."""
        room = nbytes - STEP_NBYTES - offset_nbytes(self.data)
        return room if room >= self.data.n_outputs * tree_nbytes(setting["n_leaves"]) else None

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel]:
        """Models whose trees take at most ``shape`` bytes, side by side."""
        with Workers() as workers:
            return workers.map([partial(self._cut, setting, shape) for setting in settings])

    def chosen_by_validation(self, model: PeerModel) -> Settings:
        """The number of rounds."""
        return {"n_rounds": model.settings["n_trees"] // self.data.n_outputs}

    def _cut(self, setting: Settings, room: int) -> PeerModel:
        """The first rounds that fit, early-stopped on the validation rows."""
        if repr(setting) not in self._grown:
            self._grown[repr(setting)] = self._grow(setting, self.shape(setting, self.largest) or room)
        grown, data, n_outputs = self._grown[repr(setting)], self.data, self.data.n_outputs
        n_fitting = max(1, int(np.searchsorted(grown.nbytes, room, side="right")))
        n_rounds = min(n_fitting, setting.get("n_rounds") or 1 + int(np.argmin(grown.losses[:n_fitting])))
        trees = grown.leaves[: n_rounds * n_outputs]
        leaves, step = integer_leaves(np.concatenate(trees)[:, None] * data.unit[0])
        counts = np.array([len(tree) for tree in trees])
        starts = np.cumsum(counts) - counts
        offset = stored_offset(data, grown.start * data.unit + data.middle)

        def leaf_indices(X: np.ndarray) -> np.ndarray:
            found = grown.booster.predict(X, pred_leaf=True, num_iteration=n_rounds, num_threads=1)
            return found.reshape(len(X), -1).astype(np.int64)

        def outputs(X: np.ndarray) -> np.ndarray:
            shift = decode_bfloat16(offset) if offset.dtype == np.uint16 else offset
            return leaf_sums(leaf_indices, starts, leaves, n_outputs, X) * decode_bfloat16(step)[0] + shift

        return PeerModel(
            self.name,
            outputs,
            {"leaves": leaves, "step": step, "offset": offset},
            validation_loss(data, outputs(data.X[data.validation_rows])),
            setting | {"n_trees": len(trees)},
            n_splits=int((counts - 1).sum()),
        )

    def _grow(self, setting: Settings, room: int) -> GrownTrees:
        """Rounds until the bytes are used up, or until ``PATIENCE`` rounds have not improved the validation loss."""
        data, n_outputs = self.data, self.data.n_outputs
        start = data.objective(data.train_rows, setting["mixture"]).start()
        booster, fobj = self._booster(setting, start)
        outputs = np.repeat(start[None], len(data.validation_rows), axis=0)
        leaves: list[np.ndarray] = []
        nbytes, losses = [0], [np.inf]
        is_finished = False
        while not is_finished:
            n_before = len(leaves) // n_outputs
            for _ in range(ROUNDS_PER_CHECK):
                is_finished = booster.update(fobj=fobj) or self.is_late() or is_finished
                if is_finished:
                    break
            leaves = _leaves_of(booster)
            n_rounds = len(leaves) // n_outputs
            options = {"start_iteration": n_before, "num_iteration": n_rounds - n_before, "num_threads": 1}
            places = (
                booster.predict(data.X[data.validation_rows], pred_leaf=True, **options) if n_rounds > n_before else []
            )
            for number, found in enumerate(np.reshape(places, (len(data.validation_rows), -1)).T, n_before * n_outputs):
                outputs[:, number % n_outputs] += leaves[number][found.astype(np.int64)]
                if number % n_outputs == n_outputs - 1:
                    last = leaves[number - n_outputs + 1 : number + 1]
                    nbytes.append(nbytes[-1] + sum(tree_nbytes(len(values)) for values in last))
                    losses.append(data.validation_objective.loss(outputs))
            is_finished |= nbytes[-1] > room or n_rounds >= setting.get("n_rounds", MAX_TREES)
            is_finished |= len(losses) - int(np.argmin(losses)) > PATIENCE
        return GrownTrees(booster, start, leaves, np.array(nbytes[1:]), np.array(losses[1:]))

    @cached_property
    def _rows(self) -> np.ndarray:
        """The training rows; columns that are not in use are constant, so that no tree splits them."""
        X = self.data.X[self.data.train_rows]
        if self.data.columns is None:
            return X
        return np.where(np.isin(np.arange(X.shape[1]), self.data.columns), X, np.float32(0.0))

    def _booster(self, setting: Settings, start: np.ndarray) -> tuple[Any, Any]:
        """A LightGBM model without trees, and its objective.

        The objective is None where LightGBM has it built in; ours for soft labels of many classes and several values.
        """
        lightgbm, data, n_outputs = require("lightgbm", "bench"), self.data, self.data.n_outputs
        loss = data.objective(data.train_rows, setting["mixture"])
        targets, objective = loss.targets[:, 0], "custom"
        if n_outputs == 1:
            objective = OBJECTIVES[data.loss]
        elif data.task == "classification" and np.isin(loss.targets, (0.0, 1.0)).all():
            objective, targets = "multiclass", loss.targets.argmax(axis=1)
        params = {
            **FIXED,
            "objective": objective,
            "num_class": n_outputs,
            "num_leaves": setting["n_leaves"],
            "learning_rate": setting["rate"],
            "lambda_l2": setting["penalty"],
            "alpha": data.level,
            "min_data_in_leaf": min(USUAL_LEAF_ROWS, max(MIN_LEAF_ROWS, len(targets) // 100)),
            "boost_from_average": False,
            "seed": self.seed,
        }
        fixed = FIXED | ({"min_data_in_bin": 1, "feature_pre_filter": False} if len(targets) < FEW_ROWS else {})
        if not has_splits(self._rows):  # LightGBM would print a message of its own to the standard error
            raise InputError("no column varies, so that there is nothing to split.")
        dataset = lightgbm.Dataset(
            self._rows,
            targets,
            weight=loss.weights if objective != "custom" else None,  # our own slopes have their weights
            params=fixed,
            init_score=np.repeat(start[None], len(targets), axis=0).squeeze(),
            categorical_feature=np.flatnonzero(data.kinds > 1).tolist(),
        )
        booster = lightgbm.Booster(params, dataset)
        return booster, _slopes_of(loss) if objective == "custom" else None


def has_splits(rows: np.ndarray) -> bool:
    """True if some column of rows (n, d) has two values; missing counts as a value."""
    return any(len(np.unique(column)) > 1 for column in rows.T)  # NaN are equal


def _slopes_of(loss: Objective) -> Callable[[np.ndarray, Any], tuple[np.ndarray, np.ndarray]]:
    """A loss as a custom objective of LightGBM; curvatures of classes scaled as in its own softmax."""
    factor = loss.n_outputs / (loss.n_outputs - 1.0) / 2.0 if isinstance(loss, Softmax) else 1.0

    def slopes(outputs: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        slope, curvature = loss.slopes(outputs)
        return slope, factor * curvature

    return slopes


def _leaves_of(booster: Any) -> list[np.ndarray]:
    """The leaf values of every tree of a LightGBM model."""
    lines = booster.model_to_string(num_iteration=-1).splitlines()
    begin = "leaf_value="
    return [np.array(line[len(begin) :].split(), np.float64) for line in lines if line.startswith(begin)]


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best boosted trees of at most ``nbytes`` bytes, or None where not one round of trees fits."""
    return tune_each(Boosted, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
