"""Training and validation rows of a compared method."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repsketch.checks import check_choice, check_count
from repsketch.data.arrays import as_outputs, as_table, check_not_empty, check_width, iterate_blocks
from repsketch.errors import InputError
from repsketch.predictor import TASKS

from .compared import Compared

VALIDATION_FRACTION = 0.2
LARGEST_SEED = 2**31 - 1  # what every library used here takes


@dataclass(frozen=True)
class Rows:
    """Training and validation rows: inputs (n, d) float32; y (n,) float64, classes 0 and 1 or values."""

    task: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    train_places: np.ndarray  # (n_train,) places of the training rows in X

    @classmethod
    def split(
        cls, X: Any, y: Any, task: str, validation: tuple[Any, Any] | None = None, random_state: int = 0
    ) -> "Rows":
        """Rows to train and to validate on; without ``validation`` a fifth of them is split off by the seed.

        Parameters
        ----------
        X : (n, d) inputs
        y : (n,) classes 0 and 1, or values
        validation : (m, d) inputs and (m,) classes or values

        >>> rows = Rows.split(np.ones((10, 3)), np.arange(10), "regression")
        >>> rows.X_train.shape, rows.X_valid.shape, bool((rows.y_train == rows.train_places).all())
        ((8, 3), (2, 3), True)
        """
        check_choice("task", task, TASKS)
        check_count("random_state", random_state, LARGEST_SEED, smallest=0)
        inputs, wanted = _read(X, y, task, "X", "y")
        if validation is not None:
            validation_inputs, validation_wanted = _read(*validation, task, "X of validation", "y of validation")
            check_width(validation_inputs, inputs.shape[1], "X of validation")
            return cls(task, inputs, wanted, validation_inputs, validation_wanted, np.arange(len(inputs)))._checked()
        if len(inputs) < 2:
            raise InputError(f"X has {len(inputs)} row; to train and to validate takes at least 2.")
        order = np.random.default_rng([random_state, 4]).permutation(len(inputs))
        n_validation = max(1, int(len(order) * VALIDATION_FRACTION))
        valid, train = order[:n_validation], order[n_validation:]
        return cls(task, inputs[train], wanted[train], inputs[valid], wanted[valid], train)._checked()

    def _checked(self) -> "Rows":
        if self.task == "classification" and len(found := np.unique(self.y_train)) < 2:
            raise InputError(f"the training rows of y hold class {found[0]:g} alone; allowed are both, 0 and 1.")
        return self

    @property
    def n_features(self) -> int:
        """Number of input features, d."""
        return self.X_train.shape[1]

    def error(self, outputs: np.ndarray) -> float:
        """Share of validation rows on the wrong side of zero, or mean absolute error, of outputs (m,)."""
        if self.task == "classification":
            return float(((outputs > 0) != (self.y_valid > 0)).mean())
        return float(np.abs(outputs - self.y_valid).mean())

    def best(self, models: Sequence[Compared]) -> Compared:
        """The model of the smallest error on the validation rows, the first of equals, with the number of models tried.

        >>> rows = Rows.split(np.ones((10, 1)), np.ones(10), "regression")
        >>> tried = [Compared(f"times {i}", lambda X, i=i: i * X[:, 0], 1, 1, 4) for i in range(3)]
        >>> best = rows.best(tried)
        >>> best.name, best.settings
        ('times 1', {'n_tried': 3, 'validation_error': 0.0})
        """
        errors = [self.error(model.predict(self.X_valid)) for model in models]
        chosen = int(np.argmin(errors))
        tuning = {"n_tried": len(models), "validation_error": errors[chosen]}
        return replace(models[chosen], settings={**models[chosen].settings, **tuning})


def as_inputs(X: Any, name: str = "X") -> np.ndarray:
    """``X`` as finite float32 (n, d), at least one row and one column."""
    table = as_table(X, name)
    check_not_empty(table, name)
    return np.concatenate([block for _, block in iterate_blocks(table, name)])


def as_vector(values: Any, n_rows: int, name: str) -> np.ndarray:
    """One output for each row, finite float64 (n,)."""
    outputs = as_outputs(values, n_rows, name)
    if outputs.shape[1] != 1:
        raise InputError(f"{name} has {outputs.shape[1]} columns; allowed is one: two classes or one value.")
    return outputs[:, 0]


def is_classes(values: np.ndarray) -> bool:
    """True where ``values`` (n,) are the class numbers 0 and 1.

    >>> is_classes(np.array([0.0, 1.0, 1.0])), is_classes(np.array([-0.3, 1.2]))
    (True, False)
    """
    return bool(((values == 0) | (values == 1)).all())


def _read(X: Any, y: Any, task: str, X_name: str, y_name: str) -> tuple[np.ndarray, np.ndarray]:
    inputs = as_inputs(X, X_name)
    wanted = as_vector(y, len(inputs), y_name)
    if task == "classification" and not is_classes(wanted):
        found = np.unique(wanted)
        shown = f"{found[:4].tolist()}{' ...' if len(found) > 4 else ''}"
        raise InputError(f"{y_name} holds {shown}; allowed are the classes 0 and 1.")
    return inputs, wanted
