"""``as_teacher``: the adapter for each type of model."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TeacherError
from ..predictor import Predictor
from .boosters import adapt_lightgbm, adapt_xgboost
from .estimators import adapt_object, is_model
from .onnx import adapt_onnx
from .reading import Reading
from .teacher import Teacher
from .torch import TORCH_BLOCK_ROWS, torch_outputs


def as_teacher(model: Any, task: str | None = None, classes: Any = None) -> Teacher:
    """A ``Teacher`` that labels rows with the outputs of ``model``.

    Parameters
    ----------
    model : torch.nn.Module; LightGBM or XGBoost Booster; path to an .onnx file; any object with predict_proba,
        decision_function or predict, of which the first is used, such as a fitted scikit-learn Pipeline, a
        CatBoost or a Keras model; a sketch; function from X to (n,) or (n, C); a Teacher is returned as it is
    task : "classification", "regression", or None to infer it: a model that does not say is a classifier if it
        returns several columns, text or booleans, and a regressor if it returns one column of numbers
    classes : labels in column order, two for one column of log-odds; None for those of the model, else the labels
        it returns, else 0, 1, ...

    A classifier that does not say may return logits, probabilities or labels. Numbers that all lie in [0, 1], and sum
    to 1 in every row of several columns, are read as probabilities. Text, booleans and, where
    ``task="classification"``, one column of integers are read as labels: probabilities of 0 and 1.

    >>> outputs = as_teacher(lambda X: X, classes=["no", "yes"]).label([[1.0, 3.0], [0.5, 0.0]])
    >>> outputs.task, outputs.classes.tolist(), outputs.values.tolist()
    ('classification', ['no', 'yes'], [[2.0], [-0.5]])
    >>> as_teacher(lambda X: ["no", "yes"]).label([[1.0], [2.0]]).values.round(1).tolist()
    [[-6.9], [6.9]]
    """
    if task not in (None, "classification", "regression"):
        raise TeacherError(f"task={task!r}; allowed is 'classification', 'regression', or None to find out.")
    requested = Reading(task)
    if classes is not None:
        requested = Reading("classification", np.asarray(classes))
        if task == "regression" or np.ndim(classes) != 1 or len(set(classes)) < max(2, len(classes)):
            raise TeacherError(f"classes={classes!r:.50}, task={task!r}; allowed are two or more labels, to classify.")
    if isinstance(model, Teacher):
        is_same = task is None and classes is None
        return model if is_same else replace(model, _reading=model._reading.add(requested, model.name))
    if isinstance(model, (str, os.PathLike)):
        return adapt_onnx(Path(model), requested)
    # By name: a user's own module is defined elsewhere, but its base class is torch's.
    lineage = {(base.__module__.partition(".")[0], base.__name__) for base in type(model).__mro__}
    if ("torch", "Module") in lineage:
        name, predict = type(model).__name__, partial(torch_outputs, model)
        return Teacher(name, None, predict, requested, True, TORCH_BLOCK_ROWS)
    if ("lightgbm", "Booster") in lineage:
        return adapt_lightgbm(model, requested)
    if ("xgboost", "Booster") in lineage:
        return adapt_xgboost(model, requested)
    if isinstance(model, Predictor):
        known = Reading(model.task, model.classes, "values" if model.task == "regression" else "logits")
        return Teacher(
            type(model).__name__, model.n_features, model.outputs, known.add(requested, type(model).__name__)
        )
    if is_model(model):
        return adapt_object(model, requested)
    if callable(model) and not isinstance(model, type):
        return Teacher(getattr(model, "__qualname__", type(model).__name__), None, model, requested)
    raise TeacherError(
        f"model is {model!r:.60} of type {type(model).__name__}; allowed is a torch module, an object with "
        "predict_proba, decision_function or predict, a Booster of LightGBM or XGBoost, a path to an .onnx file or a "
        "function of X. Pass the trained object itself."
    )
