"""Forests as emlearn packs them: random or extra trees of scikit-learn, leaves of a byte for each output."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from repsketch.compare.features import Features
from repsketch.compare.peer import SPLIT_NBYTES, PeerModel, offset_nbytes, stored_offset, validation_loss
from repsketch.compare.trees import STEP_NBYTES, integer_leaves, leaf_sums
from repsketch.compare.tuning import PeerMethod, Settings, tune_each
from repsketch.errors import require
from repsketch.model.numbers import decode_bfloat16
from repsketch.train.training_data import TrainingData

VARIANTS = (("random", 1.0), ("random", "sqrt"), ("extra", 1.0))  # and the share of columns a split looks at
HARD_VARIANTS = VARIANTS[1:]  # of many classes: a leaf stores its likeliest one, not all probabilities
LEAVES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
N_SIZES = 4  # of those, tried at a budget
MOST_TREES, MOST_ROWS_A_TREE = 48, 8_000  # more trees hardly help, and more rows take minutes
_RARE = 0.005  # probabilities are clipped this far from 0 and 1


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees, with the leaves (number of leaves, C) of each: probabilities less the means over all rows, or values."""

    trees: list[Any]
    numbers: list[np.ndarray]  # of every node of a tree: which leaf it is
    leaves: list[np.ndarray]


class Forest(PeerMethod):
    """Forests grown once; a budget takes as many of the trees as fit."""

    name = "forest"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._grown: dict[str, Grown] = {}

    @cached_property
    def features(self) -> Features:
        """Columns as numbers; order is all that trees see, so that centers and scales are not stored."""
        return Features.of(self.data)

    def _is_hard(self, setting: Settings) -> bool:
        is_hard = (setting["variant"], setting["share"]) in HARD_VARIANTS
        return is_hard and self.data.task == "classification" and self.data.n_outputs > 1

    def _tree_nbytes(self, setting: Settings, n_leaves: int | None = None) -> int:
        n_leaves = n_leaves or setting["n_leaves"]
        return SPLIT_NBYTES * (n_leaves - 1) + n_leaves * (1 if self._is_hard(setting) else self.data.n_outputs)

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Kinds of trees, shares of the teacher, and leaves, from the largest that fit."""
        for (variant, share), mixture in product(VARIANTS, self.mixtures):
            setting = {"variant": variant, "share": share, "mixture": mixture}
            fitting = [n for n in LEAVES if self._tree_nbytes(setting, n) <= nbytes]
            yield from (setting | {"n_leaves": n} for n in fitting[-N_SIZES - 1 : -1] or fitting)

    def shape(self, setting: Settings, nbytes: int) -> int | None:
        """Bytes for trees, if one fits."""
        room = nbytes - STEP_NBYTES - offset_nbytes(self.data)
        return room if room >= self._tree_nbytes(setting) else None

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel]:
        """Forests of at most so many bytes of trees."""
        return [self._cut(setting, shape) for setting in settings]

    def _cut(self, setting: Settings, room: int) -> PeerModel:
        data, features = self.data, self.features
        if repr(setting) not in self._grown:
            self._grown[repr(setting)] = self._grow(setting, room)
        grown = self._grown[repr(setting)]
        nbytes = np.cumsum([self._tree_nbytes(setting, len(leaves)) for leaves in grown.leaves])
        n_trees = int(np.searchsorted(nbytes, room, side="right"))
        trees, numbers, leaves_by_tree = grown.trees[:n_trees], grown.numbers[:n_trees], grown.leaves[:n_trees]
        counts = np.array([len(leaves) for leaves in leaves_by_tree])
        leaves = np.concatenate(leaves_by_tree)
        integers, step = integer_leaves(leaves)
        offset = stored_offset(data, self._middle)
        stored = {"leaves": integers, "step": step, "offset": offset}
        is_hard = self._is_hard(setting)
        if is_hard:
            stored = {"leaves": leaves.argmax(axis=1).astype(np.uint8 if data.n_outputs <= 256 else np.uint16)}

        def places(values: np.ndarray) -> np.ndarray:
            found = [number[tree.apply(values)] for tree, number in zip(trees, numbers, strict=True)]
            return np.stack(found, axis=1)

        def outputs(X: np.ndarray) -> np.ndarray:
            table = np.eye(data.n_outputs, dtype=np.int8)[stored["leaves"]] if is_hard else stored["leaves"]
            sums = leaf_sums(places, np.cumsum(counts) - counts, table, data.n_outputs, features.values(X))
            if is_hard:
                return _log_odds(sums / n_trees)
            shift = decode_bfloat16(offset) if offset.dtype == np.uint16 else offset
            means = sums * (decode_bfloat16(step)[0] / n_trees) + shift
            return means if data.task == "regression" else _log_odds(means)

        return PeerModel(
            self.name,
            outputs,
            stored,
            validation_loss(data, outputs(data.X[data.validation_rows])),
            setting | {"n_trees": n_trees},
            n_splits=int((counts - 1).sum()),
        )

    @cached_property
    def _middle(self) -> np.ndarray:
        """The offset of all leaves, (C,): mean probabilities, or the median of the values."""
        is_values = self.data.task == "regression"
        return self.data.middle if is_values else self.data.labels[self.data.train_rows].mean(axis=0)

    def _grow(self, setting: Settings, room: int) -> Grown:
        """Trees by squared distance, which for probabilities is Gini's; leaves hold means, or medians of values."""
        ensemble, data = require("sklearn.ensemble", "bench"), self.data
        is_random = setting["variant"] == "random"
        kind = ensemble.RandomForestRegressor if is_random else ensemble.ExtraTreesRegressor
        most = self.shape(setting, self.largest) or room
        values = self.features.values(data.X[data.train_rows])
        targets = data.objective(data.train_rows, setting["mixture"]).targets * data.unit
        forest = kind(
            min(MOST_TREES, max(1, most // self._tree_nbytes(setting))),
            max_leaf_nodes=setting["n_leaves"],
            max_features=setting["share"],
            bootstrap=True,
            max_samples=min(MOST_ROWS_A_TREE, len(values)),
            random_state=self.seed,
            n_jobs=1,
        ).fit(values, targets.squeeze(axis=1) if targets.shape[1] == 1 else targets)
        trees = [member.tree_ for member in forest.estimators_]
        numbers = [np.cumsum(tree.children_left < 0) - 1 for tree in trees]
        leaves = []
        for tree, number in zip(trees, numbers, strict=True):
            is_leaf = tree.children_left < 0
            if data.task == "regression":
                leaves.append(_medians(number[tree.apply(values)], targets, tree.value[is_leaf][:, :, 0]))
            else:
                leaves.append(tree.value[is_leaf][:, :, 0] - (0.0 if self._is_hard(setting) else self._middle))
        return Grown(trees, numbers, leaves)


def _medians(places: np.ndarray, targets: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Medians (leaves, C) of the targets (n, C) in each leaf; the given mean of a leaf that no row is in."""
    order = np.argsort(places, kind="stable")
    groups = np.split(targets[order], np.searchsorted(places[order], np.arange(1, len(means))))
    return np.array(
        [np.median(group, axis=0) if len(group) else mean for group, mean in zip(groups, means, strict=True)]
    )


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    """Log-odds (n, 1) or logits (n, C) of probabilities, clipped away from 0 and 1."""
    probabilities = np.clip(probabilities, _RARE, 1.0 - _RARE)
    return np.log(probabilities / (1.0 - probabilities)) if probabilities.shape[1] == 1 else np.log(probabilities)


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best forest of at most ``nbytes`` bytes, or None where not one tree fits."""
    return tune_each(Forest, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
