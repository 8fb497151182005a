"""Boosted trees: LightGBM, packed as tightly as trees can be, its leaves rounded to a byte each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ..errors import InputError, require
from ..model.numbers import decode_bfloat16
from ..train.objective import Objective, Softmax
from ..train.training_data import TrainingData
from .peer import Budgeted, held_loss, offset_nbytes, stored_offset
from .trees import FIXED, MOST_TREES, PATIENCE, STEP_NBYTES, leaf_sums, tree_nbytes, whole_leaves
from .tuning import Kind, Settings, tune_each

#: Up to so many bytes: leaves of a tree and rates that are tried. Few trees must learn fast.
CHOICES = {
    1_024: ((2, 4, 8, 16), (0.3, 0.6, 1.0)),
    4_096: ((4, 8, 16, 31), (0.1, 0.3, 0.6)),
    1 << 40: ((4, 8, 16, 31), (0.05, 0.1, 0.3)),
}
PENALTIES = (0.0, 3.0, 30.0)  # of the squares of leaves; the first where a teacher is there
ROUNDS_AT_A_TIME = 25
FEW_ROWS = 200  # of which LightGBM's bins are not made larger than one row: it would find nothing to split
FEWEST_ROWS_A_LEAF, USUAL_ROWS_A_LEAF = 3, 20


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees in rounds of one for each output.

    Attributes
    ----------
    booster : of LightGBM
    start : (C,) outputs before the first round
    leaves : of every tree
    nbytes : (rounds,) of all trees up to each
    losses : (rounds,) on the rows held out after each
    """

    booster: Any
    start: np.ndarray
    leaves: list[np.ndarray]
    nbytes: np.ndarray
    losses: np.ndarray


class Boosted(Kind):
    """Trees grown once for the largest budget; every smaller one takes the first of them."""

    name = "boosted trees"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._grown: dict[str, Grown] = {}

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Leaves of a tree, rates, and penalties or shares of the teacher."""
        choices = next(choice for most, choice in CHOICES.items() if nbytes <= most)
        penalties = PENALTIES[:1] if self.is_distilled else PENALTIES
        for n_leaves, rate, penalty, mixture in product(*choices, penalties, self.mixtures):
            yield {"n_leaves": n_leaves, "rate": rate, "penalty": penalty, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> int | None:
        """Bytes for trees, if a round of them fits."""
        room = nbytes - STEP_NBYTES - offset_nbytes(self.problem)
        return room if room >= self.problem.n_outputs * tree_nbytes(setting["n_leaves"]) else None

    def fit(self, shape: Any, settings: list[Settings]) -> list[Budgeted]:
        """Models of at most so many bytes of trees."""
        return [self._cut(setting, shape) for setting in settings]

    def decided(self, model: Budgeted) -> Settings:
        """How many rounds there are."""
        return {"n_rounds": model.settings["n_trees"] // self.problem.n_outputs}

    def _cut(self, setting: Settings, room: int) -> Budgeted:
        """The first rounds that fit, as many as the rows held out like."""
        if repr(setting) not in self._grown:
            self._grown[repr(setting)] = self._grow(setting, self.shape(setting, self.largest) or room)
        grown, problem, n_outputs = self._grown[repr(setting)], self.problem, self.problem.n_outputs
        n_fitting = max(1, int(np.searchsorted(grown.nbytes, room, side="right")))
        n_rounds = min(n_fitting, setting.get("n_rounds") or 1 + int(np.argmin(grown.losses[:n_fitting])))
        parts = grown.leaves[: n_rounds * n_outputs]
        whole, step = whole_leaves(np.concatenate(parts)[:, None] * problem.unit[0])
        counts = np.array([len(part) for part in parts])
        starts = np.cumsum(counts) - counts
        offset = stored_offset(problem, grown.start * problem.unit + problem.middle)

        def places(X: np.ndarray) -> np.ndarray:
            found = grown.booster.predict(X, pred_leaf=True, num_iteration=n_rounds, num_threads=1)
            return found.reshape(len(X), -1).astype(np.int64)

        def outputs(X: np.ndarray) -> np.ndarray:
            shift = decode_bfloat16(offset) if offset.dtype == np.uint16 else offset
            return leaf_sums(places, starts, whole, n_outputs, X) * decode_bfloat16(step)[0] + shift

        return Budgeted(
            self.name,
            outputs,
            {"leaves": whole, "step": step, "offset": offset},
            held_loss(problem, outputs(problem.X[problem.held])),
            setting | {"n_trees": len(parts)},
            n_splits=int((counts - 1).sum()),
        )

    def _grow(self, setting: Settings, room: int) -> Grown:
        """Rounds until the bytes are used up or the rows held out have not liked any for a while."""
        problem, n_outputs = self.problem, self.problem.n_outputs
        start = problem.objective(problem.kept, setting["mixture"]).start()
        booster, fobj = self._booster(setting, start)
        outputs = np.repeat(start[None], len(problem.held), axis=0)
        leaves: list[np.ndarray] = []
        nbytes, losses = [0], [np.inf]
        is_finished = False
        while not is_finished:
            n_before = len(leaves) // n_outputs
            for _ in range(ROUNDS_AT_A_TIME):
                is_finished = booster.update(fobj=fobj) or is_finished
            leaves = _leaves_of(booster)
            n_rounds = len(leaves) // n_outputs
            options = {"start_iteration": n_before, "num_iteration": n_rounds - n_before, "num_threads": 1}
            places = booster.predict(problem.X[problem.held], pred_leaf=True, **options) if n_rounds > n_before else []
            for number, found in enumerate(np.reshape(places, (len(problem.held), -1)).T, n_before * n_outputs):
                outputs[:, number % n_outputs] += leaves[number][found.astype(np.int64)]
                if number % n_outputs == n_outputs - 1:
                    last = leaves[number - n_outputs + 1 : number + 1]
                    nbytes.append(nbytes[-1] + sum(tree_nbytes(len(values)) for values in last))
                    losses.append(problem.held_objective.loss(outputs))
            is_finished |= nbytes[-1] > room or n_rounds >= setting.get("n_rounds", MOST_TREES)
            is_finished |= len(losses) - int(np.argmin(losses)) > PATIENCE
        return Grown(booster, start, leaves, np.array(nbytes[1:]), np.array(losses[1:]))

    @cached_property
    def _rows(self) -> np.ndarray:
        """The rows kept, with the columns in use; others are constant, so that no tree asks for them."""
        X = self.problem.X[self.problem.kept]
        if self.problem.places is None:
            return X
        return np.where(np.isin(np.arange(X.shape[1]), self.problem.places), X, np.float32(0.0))

    def _booster(self, setting: Settings, start: np.ndarray) -> tuple[Any, Any]:
        """A LightGBM model without trees, and what it minimises.

        None where LightGBM has an objective of its own; ours for soft chances of many classes and for several values.
        """
        lightgbm, problem, n_outputs = require("lightgbm", "bench"), self.problem, self.problem.n_outputs
        loss = problem.objective(problem.kept, setting["mixture"])
        targets, objective = loss.targets[:, 0], "custom"
        if n_outputs == 1:
            objective = "regression_l1" if problem.task == "regression" else "cross_entropy"
        elif problem.task == "classification" and np.isin(loss.targets, (0.0, 1.0)).all():
            objective, targets = "multiclass", loss.targets.argmax(axis=1)
        params = {
            **FIXED,
            "objective": objective,
            "num_class": n_outputs,
            "num_leaves": setting["n_leaves"],
            "learning_rate": setting["rate"],
            "lambda_l2": setting["penalty"],
            "min_data_in_leaf": min(USUAL_ROWS_A_LEAF, max(FEWEST_ROWS_A_LEAF, len(targets) // 100)),
            "boost_from_average": False,
            "seed": self.seed,
        }
        fixed = FIXED | ({"min_data_in_bin": 1, "feature_pre_filter": False} if len(targets) < FEW_ROWS else {})
        if not has_splits(self._rows):  # LightGBM would end with a message of its own on the standard error
            raise InputError("no column varies, so that there is nothing to split.")
        data = lightgbm.Dataset(
            self._rows,
            targets,
            params=fixed,
            init_score=np.repeat(start[None], len(targets), axis=0).squeeze(),
            categorical_feature=np.flatnonzero(problem.kinds > 1).tolist(),
        )
        booster = lightgbm.Booster(params, data)
        return booster, _slopes_of(loss) if objective == "custom" else None


def has_splits(rows: np.ndarray) -> bool:
    """True if some column (n,) of rows (n, d) has two values, a missing one counting as one."""
    is_missing = np.isnan(rows)
    filled = np.where(is_missing, rows[:1], rows)
    return bool((is_missing != is_missing[:1]).any() or (filled != rows[:1])[~is_missing & ~is_missing[:1]].any())


def _slopes_of(loss: Objective) -> Callable[[np.ndarray, Any], tuple[np.ndarray, np.ndarray]]:
    """A loss as LightGBM asks for it; the curvature of classes as in its own softmax, for steps as long."""
    factor = loss.n_outputs / (loss.n_outputs - 1.0) / 2.0 if isinstance(loss, Softmax) else 1.0

    def slopes(outputs: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        slope, curvature = loss.slopes(outputs)
        return slope, factor * curvature

    return slopes


def _leaves_of(booster: Any) -> list[np.ndarray]:
    """The leaves of every tree of a LightGBM model."""
    lines = booster.model_to_string(num_iteration=-1).splitlines()
    begin = "leaf_value="
    return [np.array(line[len(begin) :].split(), np.float64) for line in lines if line.startswith(begin)]


def fit(problem: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> Budgeted | None:
    """The best boosted trees of at most ``nbytes`` bytes, or None where not one round of trees fits."""
    return tune_each(Boosted, problem, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
