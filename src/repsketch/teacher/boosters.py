"""Boosters of LightGBM and XGBoost as teachers, without their scikit-learn estimators."""

import json
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ..errors import TeacherError, require
from .reading import Reading
from .teacher import Teacher


def adapt_lightgbm(booster: Any, requested: Reading) -> Teacher:
    """A teacher of LightGBM's raw scores, or of its values for regression."""
    text = booster.model_to_string(num_iteration=1) if booster.num_trees() else ""
    objective = next((line[10:] for line in text.splitlines() if line.startswith("objective=")), None)
    reading = _read_objective(bool(text), objective, ("binary", "multiclass")).add(requested, "Booster")
    # Regressors return values, not raw scores, which are logarithms for a Poisson regressor.
    predict = partial(booster.predict, raw_score=reading.task != "regression")
    return Teacher("Booster", booster.num_feature(), predict, reading)


def adapt_xgboost(booster: Any, requested: Reading) -> Teacher:
    """A teacher of XGBoost's margins, or of its values for regression."""
    objective, n_features = None, 0
    with suppress(require("xgboost", "train").core.XGBoostError):  # raised by a booster that has seen no data
        n_features = booster.num_features() if booster.num_boosted_rounds() else 0
        objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
    reading = _read_objective(n_features > 0, objective, ("binary:", "multi:")).add(requested, "Booster")
    return Teacher("Booster", n_features, partial(_xgboost_outputs, booster, reading.task != "regression"), reading)


def _xgboost_outputs(booster: Any, margin: bool, rows: Any) -> np.ndarray:
    table = require("xgboost", "train").DMatrix(rows, enable_categorical=True)
    return booster.predict(table, output_margin=margin)


def _read_objective(is_trained: bool, objective: str | None, classifiers: tuple[str, ...]) -> Reading:
    if not is_trained:
        raise TeacherError("Booster is not fitted, it has no trees; train it before you pass it as a teacher.")
    if objective is None:  # the user's own loss function
        return Reading(scale="logits")
    if objective.startswith(classifiers):
        return Reading("classification", None, "logits")
    return Reading("regression", None, "values")
