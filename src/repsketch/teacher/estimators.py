"""Objects with predict_proba, decision_function or predict as teachers, scikit-learn's estimators among them."""

from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from ..errors import TeacherError, require
from .reading import Reading
from .teacher import Teacher, slice_rows

METHODS = {"predict_proba": "probabilities", "decision_function": "logits", "predict": None}
METHODS_OF = {
    "classifier": ("predict_proba", "decision_function", "predict"),
    "regressor": ("predict",),
    "clusterer": ("predict",),
    "outlier_detector": ("decision_function",),
    None: ("predict_proba", "decision_function", "predict"),
}


def is_model(model: Any) -> bool:
    """True for estimators, and for any object with one of the three methods.

    >>> is_model("a path"), is_model(type("Model", (), {"predict": lambda self, X: X})())
    (False, True)
    """
    if isinstance(model, type):
        return False
    return _is_estimator(model) or any(callable(getattr(model, method, None)) for method in METHODS)


def _is_estimator(model: Any) -> bool:
    return hasattr(model, "get_params") and hasattr(model, "fit")


def adapt_object(model: Any, requested: Reading) -> Teacher:
    """A teacher that calls the first of the three methods that ``model`` has."""
    name = type(model).__name__
    kind = _check_fitted(model, name) if _is_estimator(model) else None
    methods = METHODS_OF.get(kind, METHODS_OF[None])
    method = next((method for method in methods if callable(getattr(model, method, None))), None)
    if method is None:
        raise TeacherError(
            f"{name} is a {kind or 'model'} without outputs to learn from; allowed are models with predict_proba, "
            "decision_function or predict. Pass such a model, or a function that returns the outputs you want."
        )
    predict = partial(_decision_scores, model, name) if method == "decision_function" else getattr(model, method)
    if method == "predict" and not _is_estimator(model) and "verbose" in _parameters(predict):
        predict = partial(predict, verbose=0)  # Keras would draw its own progress bar
    known = _reading_of(model, kind, method, name)
    return Teacher(name, getattr(model, "n_features_in_", None), predict, known.add(requested, name))


def _reading_of(model: Any, kind: str | None, method: str, name: str) -> Reading:
    if kind == "regressor":
        return Reading("regression", None, "values")
    if kind == "clusterer":
        return Reading("classification", None, "labels")
    classes = _classes_of(model, method, name)
    if kind == "classifier" or method == "predict_proba" or classes is not None:
        is_label = kind == "classifier" and method == "predict"
        return Reading("classification", classes, "labels" if is_label else METHODS[method])
    return Reading(scale=METHODS[method])


def _decision_scores(model: Any, name: str, rows: Any) -> Any:
    scores = model.decision_function(rows)
    if np.ndim(scores) == 2 and hasattr(model, "predict"):
        shape = np.shape(model.predict(slice_rows(rows, 0, 1)))
        if len(shape) == 2 and shape[1] > 1:
            raise TeacherError(f"{name} predicts {shape[1]} labels per row; allowed is one. Pass a model for each.")
    return scores


def _parameters(function: Any) -> Any:
    try:
        return signature(function).parameters
    except (TypeError, ValueError):  # a function without a signature, such as one written in C
        return ()


def _check_fitted(model: Any, name: str) -> str | None:
    """The estimator type of ``model``; an error if it is not fitted."""
    sklearn = require("sklearn", "train")
    try:
        sklearn.utils.validation.check_is_fitted(model)
        return sklearn.utils.get_tags(model).estimator_type
    except sklearn.exceptions.NotFittedError as error:
        raise TeacherError(f"{name} is not fitted; call its fit before you pass it as a teacher.") from error
    except AttributeError:  # an estimator of another library, without scikit-learn's tags
        return getattr(model, "_estimator_type", None)


def _classes_of(model: Any, method: str, name: str) -> np.ndarray | None:
    classes = getattr(model, "classes_", None)
    if classes is not None and (len(classes) < 2 or np.ndim(classes[0]) > 0):
        raise TeacherError(f"{name} has classes_ = {classes!r:.50}; allowed is one label per row, out of two or more.")
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    shapes = [value for key, value in parameters.items() if key.endswith("decision_function_shape")]
    if method == "decision_function" and "ovo" in shapes and (classes is None or len(classes) > 2):
        raise TeacherError(f"{name} gives a column per pair of classes; set decision_function_shape='ovr'.")
    return None if classes is None else np.asarray(classes)
