"""Tree models of the teacher's quality, chosen on the validation rows as small as that quality allows."""

import copy
from typing import Any

from repsketch.errors import require

from .baselines.boosted import booster_outputs, tree_nbytes
from .teachers import Case

LEAVES = (4, 8, 16, 31)  # of a tree
TREES = (10, 20, 30, 50, 75, 100, 150, 200, 300)
SMALL_NBYTES = 1024
FOREST_LEAVES, FOREST_TREES = (16, 64, 256), (5, 10, 20, 40)
MOST_FOREST_LEAVES = {"classification": 5120, "regression": 1280}  # emlearn compares all distinct leaves pairwise


def close_booster(case: Case) -> Any:
    """The smallest LightGBM estimator whose validation score is close to the teacher's, else the best one."""
    tried = []
    for n_leaves in LEAVES:
        model = _fit_booster(case, n_leaves, max(TREES))
        for n_trees in TREES:
            outputs = model.booster_.predict(case.X_valid, num_iteration=n_trees, raw_score=True)
            tried.append((n_trees * tree_nbytes(n_leaves), case.score(outputs, case.y_valid), n_leaves, n_trees))
    _, _, n_leaves, n_trees = _smallest_close(case, tried)
    return _fit_booster(case, n_leaves, n_trees)


def small_booster(case: Case) -> Any:
    """The best LightGBM estimator of at most 1 KB on the validation rows."""
    tried = []
    for n_leaves in LEAVES[:3]:
        n_trees = SMALL_NBYTES // tree_nbytes(n_leaves)
        for rate in (0.1, 0.3):
            model = _fit_booster(case, n_leaves, n_trees, rate)
            tried.append((case.score(booster_outputs(model, case.X_valid), case.y_valid), model))
    return _best(case)(tried, key=lambda pair: pair[0])[1]


def close_forest(case: Case) -> Any:
    """The smallest scikit-learn random forest whose validation score is close to the teacher's, else the best one."""
    ensemble = require("sklearn.ensemble", "bench")
    is_classifier = case.task == "classification"
    kind = ensemble.RandomForestClassifier if is_classifier else ensemble.RandomForestRegressor
    tried = []
    for n_leaves in FOREST_LEAVES:
        largest = kind(max(FOREST_TREES), max_leaf_nodes=n_leaves, random_state=0).fit(case.X_train, case.y_train)
        for n_trees in FOREST_TREES:
            forest = copy.copy(largest).set_params(n_estimators=n_trees)
            forest.estimators_ = largest.estimators_[:n_trees]
            if n_trees * n_leaves <= MOST_FOREST_LEAVES[case.task]:
                outputs = forest.predict(case.X_valid) - (0.5 if is_classifier else 0.0)
                tried.append((n_trees * n_leaves, case.score(outputs, case.y_valid), forest))
    return _smallest_close(case, tried)[2]


def _fit_booster(case: Case, n_leaves: int, n_trees: int, rate: float = 0.1) -> Any:
    lightgbm = require("lightgbm", "bench")
    options = {"n_estimators": n_trees, "num_leaves": n_leaves, "learning_rate": rate, "n_jobs": 1, "verbose": -1}
    if case.task == "classification":
        model = lightgbm.LGBMClassifier(**options)
    else:
        model = lightgbm.LGBMRegressor(objective="regression_l1", **options)
    return model.fit(case.X_train, case.y_train)


def _smallest_close(case: Case, tried: list[tuple]) -> tuple:
    """Of tuples (size, score, ...) the smallest that is close to the teacher, else the one of the best score."""
    close = [entry for entry in tried if case.is_close(entry[1])]
    if close:
        return min(close, key=lambda entry: entry[0])
    return _best(case)(tried, key=lambda entry: entry[1])


def _best(case: Case):
    return max if case.task == "classification" else min
