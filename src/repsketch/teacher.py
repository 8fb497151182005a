"""What a teacher is: stage 0 of the flow, teacher -> kernel -> sketch.

Takes anything trained: a torch module, a scikit-learn, LightGBM or XGBoost model, a path to an ONNX
file, a function. Hands on a ``Teacher``, which labels rows with the float64 outputs that students
are trained against. Adapters are found by type; no library is imported before its model arrives.
"""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import BLOCK_ROWS, LARGEST_OUTPUT, as_checked, as_table, check_not_empty, check_width, is_sparse, take_rows
from .errors import RepSketchError, TeacherError, require

# A tree that answers p = 1 has seen few rows there, not an infinite margin: log-odds end at +-6.9,
# so that squared error is not ruled by the rows a teacher is sure of.
PROBABILITY_FLOOR = 1e-3
FLOOR_TIMES_CLASSES = 0.1  # beyond 100 classes the floor shrinks, to stay a tenth of 1 / C, the answer of ignorance
RANGE_TOLERANCE = 1e-6  # a float32 softmax may exceed 1 by rounding
SUM_TOLERANCE = 1e-3  # float16 probabilities add up no better
TORCH_BLOCK_ROWS = 8_192  # a network holds the activations of its layers for a whole block
ONNX_INPUTS = {"tensor(float)": np.float32, "tensor(double)": np.float64}
ONNX_SCORES = ("tensor(float)", "tensor(double)", "tensor(float16)", "seq(map(")


@dataclass(frozen=True, eq=False)
class TeacherOutputs:
    """A teacher's answer for some rows, and what its columns mean.

    Attributes
    ----------
    values : float64 (n, C), finite: one column of log-odds for two classes, C columns of logits for
        more classes, the values themselves for regression
    task : "classification" or "regression"
    classes : (2,) labels where C = 1 else (C,), in column order; None for regression

    >>> as_teacher(lambda X: X, task="regression").label([[1.0, 2.0]])
    TeacherOutputs(values=array([[1., 2.]]), task='regression', classes=None)
    """

    values: np.ndarray
    task: str
    classes: np.ndarray | None


@dataclass(frozen=True, eq=False)
class _Reading:
    """How raw answers are read. None: nobody has told, the first answer decides."""

    task: str | None = None
    classes: np.ndarray | None = None
    is_probability: bool | None = None

    def add(self, asked: "_Reading", name: str) -> "_Reading":
        """What the model tells (self) together with what the caller asked for."""
        if self.task and asked.task and self.task != asked.task:
            raise TeacherError(f"task={asked.task!r}, but {name} does {self.task}; pass task={self.task!r} or None.")
        classes = self.classes if asked.classes is None else asked.classes
        is_probability = asked.is_probability if self.is_probability is None else self.is_probability
        return _Reading(self.task or asked.task, classes, is_probability)

    def resolve(self, raw: np.ndarray, name: str) -> "_Reading":
        """The reading with nothing left open, after checking that ``raw`` (n, C) fits what is known."""
        n_columns = raw.shape[1]
        task = self.task or ("classification" if n_columns > 1 else "regression")
        if task == "regression":
            return _Reading(task, None, False)
        classes = np.arange(max(n_columns, 2)) if self.classes is None else self.classes
        if len(classes) != max(n_columns, 2):
            given = f"{name} answered with shape {raw.shape} for {len(classes)} classes"
            raise TeacherError(f"{given}; allowed is a column per class, or one column for two classes.")
        looks_so = _looks_like_probabilities(raw)
        if self.is_probability and not looks_so:
            raise TeacherError(
                f"{name} gives probabilities, but these lie outside [0, 1] or do not sum to 1 in every row. Pass "
                "a model with one label per row; if these are logits, label a larger table in the first call."
            )
        if n_columns == 1 and raw.dtype.kind in "iu" and not looks_so:
            raise TeacherError(
                f"{name} answered with whole numbers up to {raw.max()}, which look like class labels; "
                "allowed are scores. Pass the model itself, or a function that returns probabilities or logits."
            )
        return _Reading(task, classes, looks_so if self.is_probability is None else self.is_probability)

    def read(self, raw: np.ndarray) -> np.ndarray:
        """Outputs float64 (n, C) of a raw answer, once the reading is resolved."""
        values = raw.astype(np.float64)
        if self.task == "regression":
            return values
        if self.is_probability:
            values = _log_odds(values)
        return values[:, 1:] - values[:, :1] if values.shape[1] == 2 else values


def _looks_like_probabilities(raw: np.ndarray) -> bool:
    if raw.min() < -RANGE_TOLERANCE or raw.max() > 1 + RANGE_TOLERANCE:
        return False
    return raw.shape[1] == 1 or bool((abs(raw.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE).all())


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    n_columns = probabilities.shape[1]
    floor = min(PROBABILITY_FLOOR, FLOOR_TIMES_CLASSES / n_columns)
    clipped = np.clip(probabilities, floor, 1 - floor)
    if n_columns == 1:
        return np.log(clipped / (1 - clipped))
    logs = np.log(clipped)
    return logs - logs.mean(axis=1, keepdims=True)


@dataclass(eq=False)
class Teacher:
    """A trained model seen as a function from rows to outputs; made by ``as_teacher``.

    Where the model does not tell its task, or whether it gives probabilities, the first answer
    decides and the decision is kept: label a large table first, not a single row.

    Attributes
    ----------
    name : what messages call this teacher
    n_features : number of columns it takes, None where the model does not tell

    >>> as_teacher(lambda X: X @ [[1.0, 0.0, 2.0]]).label([[1.0], [3.0]]).classes
    array([0, 1, 2])
    """

    name: str
    n_features: int | None
    _answer: Callable[[Any], Any] = field(repr=False)
    _reading: _Reading = field(repr=False)
    # Rows are passed on as float32 arrays; otherwise as slices of the caller's own table.
    _is_dense: bool = field(default=False, repr=False)
    _block_rows: int = field(default=BLOCK_ROWS, repr=False)

    def label(self, X: Any) -> TeacherOutputs:
        """Outputs of the teacher for every row of ``X``, with the task and the classes.

        Parameters
        ----------
        X : ndarray, scipy sparse matrix or data frame of shape (n, d), n >= 1; evaluated in blocks of rows

        >>> as_teacher(lambda X: X[:, 0], task="classification").label([[0.5], [0.75]]).values.round(3)
        array([[0.   ],
               [1.099]])
        """
        X = as_checked(X)
        is_table = len(getattr(X, "shape", ())) == 2 and not is_sparse(X)
        table = X if is_table and not self._is_dense else as_table(X)
        check_not_empty(table)
        if self._is_dense and self.n_features is not None:
            check_width(table, self.n_features)
        starts, take = range(0, table.shape[0], self._block_rows), take_rows if self._is_dense else _slice_rows
        blocks = [self._ask(take(table, start, start + self._block_rows), start) for start in starts]
        if len({block.shape[1] for block in blocks}) > 1:
            raise TeacherError(f"{self.name} answered with another number of columns for other rows; allowed is one.")
        raw = np.concatenate(blocks)
        reading = self._reading = self._reading.resolve(raw, self.name)
        return TeacherOutputs(reading.read(raw), str(reading.task), reading.classes)

    def _ask(self, rows: Any, start: int) -> np.ndarray:
        """Raw answer (n, C) for one block of rows, finite, in the teacher's own number type."""
        try:
            answer = self._answer(rows)
            if isinstance(answer, list) and answer and isinstance(answer[0], dict):
                answer = self._from_maps(answer)
            if hasattr(answer, "detach"):
                answer = answer.detach().cpu()  # a tensor that still carries its gradient
            raw = np.asarray(None if isinstance(answer, tuple) else answer)
        except RepSketchError:
            raise
        except Exception as error:
            given = f"rows of shape {tuple(rows.shape)}"
            raise TeacherError(f"{self.name} raised {type(error).__name__} on {given}: {error}") from error
        if raw.dtype.kind not in "biuf":
            given = f"a {type(answer).__name__} of dtype {raw.dtype}"
            raise TeacherError(f"{self.name} answered with {given}; allowed is one array of real numbers.")
        matrix = raw[:, None] if raw.ndim == 1 else raw
        if matrix.ndim != 2 or matrix.shape[0] != rows.shape[0] or matrix.shape[1] == 0:
            given = f"shape {raw.shape} on {rows.shape[0]} rows"
            raise TeacherError(f"{self.name} answered with {given}; allowed is (n,) or (n, C) for n rows, C >= 1.")
        for row, column in np.argwhere(~(np.abs(matrix) <= LARGEST_OUTPUT))[:1]:  # NaN fails the comparison
            given = f"{matrix[row, column]} for row {start + row} of X in column {column}"
            raise TeacherError(
                f"{self.name} answered {given}; allowed are finite outputs within float32. Mend or drop that row of X."
            )
        return matrix

    def _from_maps(self, answer: list[dict]) -> list[list[float]]:
        """Columns in rising order of label, from a map {label: score} per row as ONNX's ZipMap gives."""
        labels = sorted(answer[0])
        self._reading = _Reading("classification", np.asarray(labels)).add(self._reading, self.name)
        return [[row[label] for label in labels] for row in answer]


def _slice_rows(table: Any, start: int, stop: int) -> Any:
    return table.iloc[start:stop] if hasattr(table, "iloc") else table[start:stop]


def as_teacher(model: Any, task: str | None = None, classes: Any = None) -> Teacher:
    """A ``Teacher`` that labels rows with what ``model`` answers.

    Parameters
    ----------
    model : torch.nn.Module; fitted scikit-learn, LightGBM or XGBoost estimator, Pipeline or Booster; path
        to an .onnx file; function from X to (n,) or (n, C); a Teacher is returned as it is
    task : "classification", "regression", or None to find out: a torch module, ONNX file or function is
        taken for a classifier if it has several columns, for a regressor if it has one
    classes : labels in column order, two for one column of log-odds; None asks the model, else counts from 0

    A classifier of those three kinds may answer with logits or probabilities: values that all lie
    in [0, 1], and sum to 1 in every row of several columns, are read as probabilities.

    >>> as_teacher(lambda X: X, classes=["no", "yes"]).label([[1.0, 3.0], [0.5, 0.0]])
    TeacherOutputs(values=array([[ 2. ],
           [-0.5]]), task='classification', classes=array(['no', 'yes'], dtype='<U3'))
    """
    if task not in (None, "classification", "regression"):
        raise TeacherError(f"task={task!r}; allowed is 'classification', 'regression', or None to find out.")
    asked = _Reading(task)
    if classes is not None:
        asked = _Reading("classification", np.asarray(classes))
        if task == "regression" or np.ndim(classes) != 1 or len(set(classes)) < max(2, len(classes)):
            raise TeacherError(f"classes={classes!r:.50}, task={task!r}; allowed are two or more labels, to classify.")
    if isinstance(model, Teacher):
        is_same = task is None and classes is None
        return model if is_same else replace(model, _reading=model._reading.add(asked, model.name))
    if isinstance(model, (str, os.PathLike)):
        return _adapt_onnx(Path(model), asked)
    # By name, since a user's own module is defined elsewhere while its bases are torch's.
    lineage = {(base.__module__.partition(".")[0], base.__name__) for base in type(model).__mro__}
    if ("torch", "Module") in lineage:
        name, answer = type(model).__name__, partial(_answer_torch, model)
        return Teacher(name, None, answer, asked, True, TORCH_BLOCK_ROWS)
    if ("lightgbm", "Booster") in lineage:
        return _adapt_lightgbm(model, asked)
    if ("xgboost", "Booster") in lineage:
        return _adapt_xgboost(model, asked)
    if hasattr(model, "get_params") and hasattr(model, "fit") and not isinstance(model, type):
        return _adapt_estimator(model, asked)
    if callable(model) and not isinstance(model, type):
        return Teacher(getattr(model, "__qualname__", type(model).__name__), None, model, asked)
    raise TeacherError(
        f"model is {model!r:.60} of type {type(model).__name__}; allowed is a torch module, a fitted scikit-learn, "
        "LightGBM or XGBoost model, a path to an .onnx file or a function of X. Pass the trained object itself."
    )


def _answer_torch(module: Any, rows: np.ndarray) -> Any:
    torch = require("torch", "train")
    batch = torch.tensor(rows)  # a copy: a first layer that works in place must not write into the caller's table
    for tensor in (*module.parameters(), *module.buffers())[:1]:
        batch = batch.to(tensor.device, tensor.dtype if tensor.is_floating_point() else batch.dtype)
    flags = [(part, part.training) for part in module.modules()]
    try:
        with suppress(NotImplementedError):  # an exported program has its mode built in and refuses to change it
            module.eval()
        with torch.inference_mode():
            answer = module(batch)
    finally:
        for part, training in flags:  # one by one: a batch normalisation may be frozen in a module that trains
            part.training = training
    # NumPy has no bfloat16.
    return answer.cpu().double() if torch.is_tensor(answer) and answer.is_floating_point() else answer


def _adapt_estimator(model: Any, asked: _Reading) -> Teacher:
    name = type(model).__name__
    kind = _check_fitted(model, name)
    if kind is None:
        kind = "classifier" if hasattr(model, "predict_proba") or hasattr(model, "classes_") else "regressor"
    methods = {"classifier": ("predict_proba", "decision_function"), "regressor": ("predict",)}.get(kind, ())
    method = next((method for method in methods if hasattr(model, method)), None)
    if method is None:
        raise TeacherError(
            f"{name} is a {kind} without outputs to learn from; allowed are regressors, and classifiers with "
            "predict_proba or decision_function. Pass such a model, or a function that returns the outputs you want."
        )
    known = _Reading("regression", None, False)
    if kind == "classifier":
        known = _Reading("classification", _labels_of(model, method, name), method == "predict_proba")
    return Teacher(name, getattr(model, "n_features_in_", None), getattr(model, method), known.add(asked, name))


def _check_fitted(model: Any, name: str) -> str | None:
    """What kind of estimator ``model`` says it is; an error where it is not fitted."""
    sklearn = require("sklearn", "train")
    try:
        sklearn.utils.validation.check_is_fitted(model)
        return sklearn.utils.get_tags(model).estimator_type
    except sklearn.exceptions.NotFittedError as error:
        raise TeacherError(f"{name} is not fitted; call its fit before you pass it as a teacher.") from error
    except AttributeError:  # without scikit-learn's tags: an estimator of another house
        return getattr(model, "_estimator_type", None)


def _labels_of(model: Any, method: str, name: str) -> np.ndarray | None:
    classes = getattr(model, "classes_", None)
    if classes is not None and (len(classes) < 2 or np.ndim(classes[0]) > 0):
        raise TeacherError(f"{name} has classes_ = {classes!r:.50}; allowed is one label per row, out of two or more.")
    shapes = [value for key, value in model.get_params().items() if key.endswith("decision_function_shape")]
    if method == "decision_function" and "ovo" in shapes:
        raise TeacherError(f"{name} gives a column per pair of classes; set decision_function_shape='ovr'.")
    return None if classes is None else np.asarray(classes)


def _adapt_lightgbm(booster: Any, asked: _Reading) -> Teacher:
    text = booster.model_to_string(num_iteration=1) if booster.num_trees() else ""
    objective = next((line[10:] for line in text.splitlines() if line.startswith("objective=")), None)
    reading = _read_objective(bool(text), objective, ("binary", "multiclass")).add(asked, "Booster")
    # Regressors give values, not raw scores: those of a Poisson regressor are logarithms.
    answer = partial(booster.predict, raw_score=reading.task != "regression")
    return Teacher("Booster", booster.num_feature(), answer, reading)


def _adapt_xgboost(booster: Any, asked: _Reading) -> Teacher:
    objective, n_features = None, 0
    with suppress(require("xgboost", "train").core.XGBoostError):  # raised by a booster that has seen no data
        n_features = booster.num_features() if booster.num_boosted_rounds() else 0
        objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
    reading = _read_objective(n_features > 0, objective, ("binary:", "multi:")).add(asked, "Booster")
    return Teacher("Booster", n_features, partial(_answer_xgboost, booster, reading.task != "regression"), reading)


def _answer_xgboost(booster: Any, margin: bool, rows: Any) -> np.ndarray:
    table = require("xgboost", "train").DMatrix(rows, enable_categorical=True)
    return booster.predict(table, output_margin=margin)


def _read_objective(is_trained: bool, objective: str | None, classifiers: tuple[str, ...]) -> _Reading:
    if not is_trained:
        raise TeacherError("Booster is not fitted, it has no trees; train it before you pass it as a teacher.")
    if objective is None:  # the user's own loss function
        return _Reading(is_probability=False)
    return _Reading("classification" if objective.startswith(classifiers) else "regression", None, False)


def _adapt_onnx(path: Path, asked: _Reading) -> Teacher:
    if path.suffix.lower() != ".onnx":
        raise TeacherError(f"{str(path)!r} does not end in .onnx, as a path must; load it and pass the model object.")
    if not path.is_file():
        raise TeacherError(f"there is no file {str(path)!r}; pass the path of an .onnx file that exists.")
    runtime = require("onnxruntime", "onnx")
    try:
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:
        raise TeacherError(f"ONNX Runtime cannot load {str(path)!r}: {error}") from error
    inputs, outputs = session.get_inputs(), session.get_outputs()
    scores = [output for output in outputs if output.type.startswith(ONNX_SCORES)]
    if len(inputs) != 1 or inputs[0].type not in ONNX_INPUTS or len(inputs[0].shape) != 2 or not scores:
        given = f"takes {[(node.type, node.shape) for node in inputs]}, gives {[node.type for node in outputs]}"
        allowed = f"one input (n, d) of type {' or '.join(ONNX_INPUTS)}, and a floating output"
        raise TeacherError(f"{path.name} {given}; allowed is {allowed}. Export the model so.")
    batch, width = (size if isinstance(size, int) else None for size in inputs[0].shape)
    answer = partial(_answer_onnx, session, inputs[0], scores[-1].name, batch)
    return Teacher(path.name, width, answer, asked, True, batch or BLOCK_ROWS)


def _answer_onnx(session: Any, source: Any, target: str, batch: int | None, rows: np.ndarray) -> Any:
    # A model exported for a fixed batch gets its last block filled up with rows it has seen.
    filled = np.resize(rows, (batch or len(rows), rows.shape[1])).astype(ONNX_INPUTS[source.type], copy=False)
    return session.run([target], {source.name: filled})[0][: len(rows)]
