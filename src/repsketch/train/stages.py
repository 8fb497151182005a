"""Models of stages, trained by gradient descent in C: stages of tables, ReLU or clip, then rows or a linear term.

Takes integer values with their labels, and a shape; hands on ``Trained``, which ``stage_assembly.assemble`` turns into
a model. From a share of the steps on, parameters are rounded in every step as they are stored, and the forward pass
computes the deployed integers, so that the validation loss is that of the deployed model. The same seed gives the same
bytes on every machine: ``native/rsk_trainer.h``.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import check_choice, check_count, check_number
from ..core import require_native
from ..errors import InputError
from ..model.inputs import LARGEST_VALUE
from .stage_shape import ACTIVATIONS, Shape

LOSSES = ("logistic", "softmax", "squared", "absolute", "quantile")
MAX_BATCH = 256
MAX_STEPS = 100_000_000
_PIECE_SECONDS = 0.004  # between two looks at the clock and at Ctrl-C
_MAX_PIECE = 4_096


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows to train on or to validate with.

    Attributes
    ----------
    values : (n, D) int16, the integer values of the inputs
    labels : (n, C) probabilities of classes (of the second, if there are two), or values of about unit size
    soft_labels : (n, C) the teacher's outputs in the same units; None without a teacher
    weights : (n,) of the rows in the loss; scaled to mean 1; None for equal ones
    """

    values: np.ndarray
    labels: np.ndarray
    soft_labels: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        n = len(self.values)
        if self.values.ndim != 2 or self.labels.ndim != 2 or not n or len(self.labels) != n:
            raise InputError(
                f"values of shape {self.values.shape} with labels of shape {self.labels.shape}; needed are (n, D) and "
                "(n, C) with n of at least 1."
            )
        if not np.issubdtype(self.values.dtype, np.integer) or self.largest > 2**15:
            raise InputError(f"values have dtype {self.values.dtype}; needed are integers of 16 bits.")
        if self.soft_labels is not None and self.soft_labels.shape != self.labels.shape:
            raise InputError(f"soft labels of shape {self.soft_labels.shape} for labels of shape {self.labels.shape}.")
        for name in ("labels", "soft_labels", "weights"):
            array = getattr(self, name)
            if array is not None and not np.isfinite(array.astype(np.float32)).all():
                raise InputError(f"{name} hold NaN or numbers that float32 cannot hold.")
        weights = self.weights
        if weights is not None and (weights.shape != (n,) or weights.min() < 0 or not weights.mean() > 0):
            raise InputError(f"weights must be {n} numbers of at least 0, and not all 0.")

    @cached_property
    def largest(self) -> int:
        """The largest value, by its absolute value."""
        return max(int(self.values.max()), -int(self.values.min())) if self.values.size else 0

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations (D,) of the values."""
        return moments(self.values)

    @cached_property
    def native(self) -> Any:
        """The same rows as the C core takes them."""
        weights = None if self.weights is None else _floats(self.weights / self.weights.mean())
        soft_labels = None if self.soft_labels is None else _floats(self.soft_labels)
        values = np.ascontiguousarray(self.values, np.int16)
        return require_native().TrainerRows(values, _floats(self.labels), soft_labels, weights)


@dataclass(frozen=True)
class Schedule:
    """How a model is trained.

    Attributes
    ----------
    n_steps : gradient steps of a batch each
    learning_rate : the largest of one cycle, reached after 30 % of the steps
    weight_decay : of AdamW, on everything but shifts and offset
    noise : standard deviation of noise on the standardised values
    mixture : weight of the soft labels in the loss
    rounding_from : share of the steps after which parameters are rounded as they are stored, at most 0.5
    batch_size : rows of a step, a multiple of 16; None for 256, or fewer where rows are few
    """

    n_steps: int = 8_000
    learning_rate: float = 0.02
    weight_decay: float = 0.0
    noise: float = 0.0
    mixture: float = 0.0
    rounding_from: float = 0.3
    batch_size: int | None = None

    def __post_init__(self) -> None:
        check_count("n_steps", self.n_steps, MAX_STEPS)
        check_number("learning_rate", self.learning_rate, 1e-9, 10.0)
        check_number("weight_decay", self.weight_decay, 0.0, 1_000.0)
        check_number("noise", self.noise, 0.0, 100.0)
        check_number("mixture", self.mixture, 0.0, 1.0)
        check_number("rounding_from", self.rounding_from, 0.0, 0.5)
        if self.batch_size is not None and check_count("batch_size", self.batch_size, 4_096, smallest=16) % 16:
            raise InputError(f"batch_size={self.batch_size}; allowed is a multiple of 16.")

    def batch_of(self, n_rows: int) -> int:
        """Rows of a step, for so many training rows.

        >>> Schedule().batch_of(100_000), Schedule().batch_of(1_000), Schedule().batch_of(20)
        (256, 112, 16)
        """
        if self.batch_size is not None:
            return self.batch_size
        return min(MAX_BATCH, max(16, n_rows // 8)) // 16 * 16


@dataclass(frozen=True, eq=False)
class Trained:
    """Trained parameters, and the integers that are deployed.

    Attributes
    ----------
    shape, seed : what was trained; rows that read sums of coordinates get their signs from the seed
    parameters : float32 arrays by name, of the lowest validation loss
    integers : the same, rounded as they are stored
    scales : what the integers are multiplied by: steps, multipliers and shifts
    checks : validation losses of the deployed model, and the steps after which they were found
    """

    shape: Shape
    seed: int
    parameters: dict[str, np.ndarray]
    integers: dict[str, np.ndarray]
    scales: dict[str, Any]
    checks: tuple[tuple[int, float], ...]

    @property
    def loss(self) -> float:
        """The lowest validation loss."""
        return min((loss for _, loss in self.checks), default=float("nan"))


def train(
    train_rows: LabelledRows,
    validation_rows: LabelledRows,
    shape: Shape,
    schedule: Schedule | None = None,
    *,
    loss: str,
    level: float = 0.5,
    largest: int | None = None,
    first_matrix: np.ndarray | None = None,
    seed: int = 0,
    isa: int = -1,
    on_piece: Callable[[int], None] = lambda n_steps: None,
) -> Trained:
    """Parameters of ``shape`` trained on ``train_rows`` by AdamW, early-stopped on ``validation_rows``.

    Parameters
    ----------
    loss, level : a name in ``LOSSES``; the quantile that "quantile" estimates. Regressions mix it with the squared
        distance to the soft labels, classifications mix labels and soft labels
    largest : bound of the values, as of ``Inputs.largest``; None for the largest among the rows
    first_matrix : (D, p) float32, where to begin, on standardised values and in widths of a table; None for random ones
    isa : number of an instruction set, -1 for the best; all give the same bits
    on_piece : called every few milliseconds with the steps made; an exception that it raises ends the training
    """
    trainer = make_trainer(
        train_rows, validation_rows, shape, schedule or Schedule(), loss=loss, level=level, largest=largest,
        first_matrix=first_matrix, seed=seed, isa=isa,
    )  # fmt: skip
    n_steps = (schedule or Schedule()).n_steps
    done, piece = 0, 1
    while done < n_steps:
        on_piece(done)
        started = time.perf_counter()
        done = trainer.run(piece)
        seconds = max(time.perf_counter() - started, 1e-9)
        piece = int(min(_MAX_PIECE, 2 * piece, max(1.0, piece * _PIECE_SECONDS / seconds)))
    return read_trained(trainer, shape, seed, train_rows.values.shape[1], train_rows.labels.shape[1])


def make_trainer(
    train_rows: LabelledRows,
    validation_rows: LabelledRows,
    shape: Shape,
    schedule: Schedule,
    *,
    loss: str,
    level: float = 0.5,
    largest: int | None = None,
    first_matrix: np.ndarray | None = None,
    seed: int = 0,
    isa: int = -1,
) -> Any:
    """The trainer of the C core before its first step; the parameters are those of ``train``."""
    n_values, n_outputs = train_rows.values.shape[1], train_rows.labels.shape[1]
    _check_task(train_rows, validation_rows, shape, loss, level, first_matrix)
    found = max(train_rows.largest, validation_rows.largest)
    largest = max(1, found) if largest is None else check_count("largest", largest, LARGEST_VALUE + 1)
    if found > largest:
        raise InputError(f"values reach {found}, largest={largest}.")
    check_count("seed", seed, 2**32 - 1, smallest=0)
    means, deviations = train_rows.moments
    rows = shape.rows
    head = [0, 0, 0, 1, int(shape.has_offset)]
    stages = [
        [stage.width, ACTIVATIONS.index(stage.activation), stage.n_entries, stage.matrix_bits, int(stage.has_linear)]
        for stage in shape.stages
    ]
    if rows is not None:
        head = [1, rows.n_levels, int(rows.factored), int(rows.has_linear), int(shape.has_offset)]
        stages.append([rows.n_components, 0, 0, rows.matrix_bits, 0])
    shape.check(n_values, n_outputs)
    return require_native().Trainer(
        stages=stages, sparsities=list(shape.sparsities), head=head, largest_value=largest,
        means=means, deviations=deviations, train=train_rows.native, validation=validation_rows.native,
        n_steps=schedule.n_steps, n_batch=schedule.batch_of(len(train_rows.values)), loss=LOSSES.index(loss),
        level=level, learning_rate=schedule.learning_rate, decay=schedule.weight_decay, noise=schedule.noise,
        mixture=schedule.mixture, rounding_from=schedule.rounding_from, seed=seed,
        first_matrix=None if first_matrix is None else _floats(first_matrix), isa=isa,
    )  # fmt: skip


def _check_task(
    train_rows: LabelledRows,
    validation_rows: LabelledRows,
    shape: Shape,
    loss: str,
    level: float,
    first_matrix: np.ndarray | None,
) -> None:
    n_values, n_outputs = train_rows.values.shape[1], train_rows.labels.shape[1]
    check_choice("loss", loss, LOSSES)
    check_number("level", level, 0.0, 1.0, open_ends=True)
    if (loss == "logistic" and n_outputs != 1) or (loss == "softmax" and n_outputs < 2):
        raise InputError(f"loss={loss!r} with {n_outputs} outputs; 'logistic' has one, 'softmax' two or more.")
    if validation_rows.values.shape[1] != n_values or validation_rows.labels.shape[1] != n_outputs:
        raise InputError("training and validation rows differ in values or outputs.")
    if first_matrix is not None and (
        first_matrix.shape != (n_values, shape.widths[0]) or not np.isfinite(first_matrix).all()
    ):
        raise InputError(
            f"first_matrix has shape {first_matrix.shape}; needed are finite numbers of shape "
            f"{(n_values, shape.widths[0])}."
        )


def read_trained(trainer: Any, shape: Shape, seed: int, n_values: int, n_outputs: int) -> Trained:
    """The present parameters of a trainer, and their integers."""
    places = shape.slices(n_values, n_outputs)
    rounded = trainer.rounded()
    parameters, integers = (
        {name: numbers[place].reshape(size) for name, (place, size) in places.items()}
        for numbers in (trainer.parameters(), rounded.pop("integers"))
    )
    return Trained(shape, seed, parameters, integers, rounded, tuple(trainer.checks()))


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations (D,) of integer values (n, D), float32.

    Small deviations are raised to a twentieth of the largest, so that a value that hardly varies is not blown up.

    >>> [array.tolist() for array in moments(np.array([[0, 5], [8, 5]]))]
    [[4.0, 5.0], [4.0, 0.20000000298023224]]
    """
    deviations = values.std(axis=0, dtype=np.float64)
    least = 0.05 * deviations.max() if deviations.max() > 0 else 1.0
    means = values.mean(axis=0, dtype=np.float64)
    return means.astype(np.float32), np.maximum(deviations, least).astype(np.float32)


def _floats(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, np.float32)
