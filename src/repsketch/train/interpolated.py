"""Rows interpolated between two counters: projection, counters and decode vectors trained by gradient descent.

A row reads its counters at a coordinate of the learned projection, or at a sum of coordinates with signs from the seed,
interpolating linearly between two of R levels. Parameters are rounded as they are stored in every step of the training,
and gradients pass straight through the rounding, so that the deployed numbers are the trained ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..lsh.pool import CodePool, PooledRows
from ..model.inputs import Inputs
from ..model.model import Model
from ..model.projection import integer_projection, ternary_columns
from ..model.rows import RowGroup
from ..paper.initialize import initial_projection, screened_projection
from ..progress import track
from ..threads import one_torch_thread
from .assemble import gain_of, stored_offset

WIDTH_BITS = 6  # 64 steps between two levels
LIMIT = 4_095  # largest coordinate, in those steps
MAX_EPOCHS = 300
#: Shares of the largest entry of a decode matrix that the range of four bits may end at.
DECODE_RANGES = (1.0, 0.85, 0.7, 0.55)
#: How a projection is initialised, and the training rows that this takes.
STARTS = {"principal": (initial_projection, 4_096), "screened": (screened_projection, 8_192)}


@dataclass(frozen=True)
class Shape:
    """Sizes of interpolated rows.

    Attributes
    ----------
    n_components, n_rows, n_levels : p components, L rows of R levels
    factored : a row has one counter a level and a decode vector (C,) in int4, instead of C counters a level
    projection_type : "int8", or "ternary" for four times as many components in as many bytes
    has_linear : there is a linear term on the coordinates, of p times C bytes
    """

    n_components: int
    n_rows: int
    n_levels: int = 8
    factored: bool = False
    projection_type: str = "int8"
    has_linear: bool = True


@dataclass(frozen=True)
class TrainingRows:
    """Rows to train on or to validate with.

    Attributes
    ----------
    values : (n, D) integer values of the inputs
    labels : (n, C) probabilities of classes, or values in units of their standard deviation
    soft_labels : (n, C) the teacher's outputs in the same units; None without a teacher
    mixture : weight of the soft labels in the loss
    loss, level, weights : as in ``TrainingData``
    """

    values: np.ndarray
    labels: np.ndarray
    soft_labels: np.ndarray | None
    mixture: float
    loss: str
    level: float = 0.5
    weights: np.ndarray | None = None

    @cached_property
    def _tensors(self) -> tuple[Tensor, Tensor]:
        labels = torch.from_numpy(self.labels.astype(np.float32))
        return labels, labels if self.soft_labels is None else torch.from_numpy(self.soft_labels.astype(np.float32))

    def loss_of(self, rows: Tensor) -> Callable[[Tensor], Tensor]:
        """The loss of these rows as a function of their outputs."""
        labels, soft_labels = (tensor[rows] for tensor in self._tensors)
        mixture = 0.0 if self.soft_labels is None else self.mixture
        weights = None if self.weights is None else torch.from_numpy(self.weights.astype(np.float32))[rows]
        return lambda outputs: _mean(self._losses(outputs, labels, soft_labels, mixture), weights)

    def _losses(self, outputs: Tensor, labels: Tensor, soft_labels: Tensor, mixture: float) -> Tensor:
        """Losses (n,) of rows."""
        if self.loss == "log_loss":
            targets = (1.0 - mixture) * labels + mixture * soft_labels
            if labels.shape[1] == 1:
                losses = torch.nn.functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
                return losses[:, 0]
            return torch.nn.functional.cross_entropy(outputs, targets, reduction="none")
        residuals = outputs - labels
        if self.loss == "squared_error":
            losses = residuals.square()
        else:
            losses = residuals.abs()
            if self.loss == "quantile":
                losses = 0.5 * losses - (self.level - 0.5) * residuals
        return ((1.0 - mixture) * losses + mixture * (outputs - soft_labels).square()).mean(dim=1)


def _mean(losses: Tensor, weights: Tensor | None) -> Tensor:
    return losses.mean() if weights is None else (losses * weights).mean()


class _Round(torch.autograd.Function):
    """Integer multiples of a 127th of the largest size, by column or for all columns; the gradient passes through."""

    @staticmethod
    def forward(ctx, values: Tensor, by_column: bool) -> Tensor:
        largest = values.abs().amax(dim=0, keepdim=True) if by_column else values.abs().max()
        step = largest.clamp_min(1e-12) / 127.0
        return torch.round(values / step) * step

    @staticmethod
    def backward(ctx, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0], None


class _Round4(torch.autograd.Function):
    """Integer multiples, up to 7, of the step that errs least among a few; the gradient passes through."""

    @staticmethod
    def forward(ctx, values: Tensor) -> Tensor:
        largest = values.abs().max().clamp_min(1e-12)
        rounded = [torch.round(values * (7.0 / (share * largest))).clamp(-7.0, 7.0) * (share * largest / 7.0)
                   for share in DECODE_RANGES]  # fmt: skip
        return min(rounded, key=lambda each: float((each - values).square().sum()))

    @staticmethod
    def backward(ctx, *grads: Tensor) -> Tensor:
        return grads[0]


class _Ternary(torch.autograd.Function):
    """Columns of -1, 0 and +1 times one size; the gradient passes through."""

    @staticmethod
    def forward(ctx, values: Tensor) -> Tensor:
        signs, units = ternary_columns(values.numpy())
        return torch.from_numpy((signs * units).astype(np.float32))

    @staticmethod
    def backward(ctx, *grads: Tensor) -> Tensor:
        return grads[0]


class Student:
    """Interpolated rows under training."""

    def __init__(
        self, shape: Shape, seed: int, means: np.ndarray, deviations: np.ndarray, parameters: dict[str, Tensor]
    ) -> None:
        self.shape, self.means, self.deviations, self.parameters = shape, means, deviations, parameters
        self.pool = pool_of(shape, seed, None)
        self.directions = torch.from_numpy(
            self.pool.directions.T.astype(np.float32) * 2.0 ** -self.pool.shifts.astype(np.float32)
        )

    @classmethod
    def blank(cls, shape: Shape, n_values: int, n_outputs: int, seed: int = 0) -> "Student":
        """A student whose outputs are all 0."""
        sizes: dict[str, tuple[int, ...]] = {
            "matrix": (n_values, shape.n_components),
            "shift": (shape.n_components,),
            "counters": (shape.n_rows, shape.n_levels, 1 if shape.factored else n_outputs),
            "offset": (n_outputs,),
        }
        if shape.factored:
            sizes["decode"] = (shape.n_rows, n_outputs)
        if shape.has_linear:
            sizes["linear"] = (shape.n_components, n_outputs)
        parameters = {name: torch.zeros(size) for name, size in sizes.items()}
        return cls(shape, seed, np.zeros(n_values, np.float32), np.ones(n_values, np.float32), parameters)

    @classmethod
    def begin(cls, train: TrainingRows, shape: Shape, seed: int, start: str = "principal") -> "Student":
        """An initialised student, before the first step."""
        student = cls.blank(shape, train.values.shape[1], train.labels.shape[1], seed)
        student.means, student.deviations = _moments(train.values)
        project, n_rows = STARTS[start]
        targets = train.labels[:n_rows] if train.soft_labels is None else train.soft_labels[:n_rows]
        matrix = project(
            student.standardised(train.values[:n_rows]), targets - targets.mean(axis=0), shape.n_components,
            np.random.default_rng([seed, 6]),
        )  # fmt: skip
        generator = torch.Generator().manual_seed(seed)
        parameters = student.parameters
        parameters["matrix"] = torch.from_numpy(matrix)
        parameters["counters"].normal_(0.0, 0.2 if shape.factored else 0.01, generator=generator)
        if shape.factored:
            parameters["decode"].normal_(0.0, 0.2, generator=generator)
        for value in parameters.values():
            value.requires_grad_()
        return student

    def standardised(self, values: np.ndarray) -> np.ndarray:
        """Integer values (n, D) less their means, in units of their standard deviation, float32."""
        return (values.astype(np.float32) - self.means) / self.deviations

    def rounded(self) -> dict[str, Tensor]:
        """Parameters, rounded as they are stored."""
        p = self.parameters
        deviations = torch.from_numpy(self.deviations[:, None])  # stored weights are those of the integer values
        steps = p["matrix"] / deviations
        is_ternary = self.shape.projection_type == "ternary"
        steps = _Ternary.apply(steps) if is_ternary else _Round.apply(steps, True)
        stored = dict(p, matrix=steps * deviations, counters=_Round.apply(p["counters"], False))
        if is_ternary:  # a shift is stored as a multiple of the column's one size, which is large
            with torch.no_grad():
                units = steps.abs().amax(dim=0).clamp_min(1e-12)
                constant = p["shift"] - torch.from_numpy(self.means) @ steps
                change = torch.round(constant / units) * units - constant
            stored["shift"] = p["shift"] + change
        if "decode" in p:
            stored["decode"] = _Round4.apply(p["decode"])
        return stored

    def __call__(self, values: Tensor) -> Tensor:
        """Outputs (n, C) for standardised values (n, D)."""
        p = self.rounded()
        z = values @ p["matrix"] + p["shift"]
        top = float(self.shape.n_levels - 1)
        u = (z @ self.directions + top / 2.0).clamp(0.0, top)
        lower = u.detach().floor().clamp_max(top - 1.0)
        places = lower.long() + self.shape.n_levels * torch.arange(self.shape.n_rows)
        table = p["counters"].flatten(0, 1)
        read = torch.lerp(table[places], table[places + 1], (u - lower)[..., None])  # (n, L, width)
        outputs = read[..., 0] @ p["decode"] if "decode" in p else read.sum(dim=1)
        return outputs + (z @ p["linear"] if "linear" in p else 0.0) + p["offset"]


def _moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations (D,) of integer values (n, D), float32.

    Small deviations are raised to a twentieth of the largest, so that a value that hardly varies is not blown up.
    """
    deviations = values.std(axis=0)
    least = 0.05 * deviations.max() if deviations.max() > 0 else 1.0
    return values.mean(axis=0).astype(np.float32), np.maximum(deviations, least).astype(np.float32)


def pool_of(shape: Shape, seed: int, width_bits: int | None) -> CodePool:
    """Codes of the rows: single coordinates first, then ternary sums of them; levels centred."""
    return CodePool(
        "ternary", shape.n_rows, shape.n_components, seed, n_levels=shape.n_levels,
        n_axes=min(shape.n_components, shape.n_rows), is_normalised=True, width_bits=width_bits,
    )  # fmt: skip


@one_torch_thread()
def train_interpolated(
    train: TrainingRows,
    validation: TrainingRows,
    shape: Shape,
    *,
    n_steps: int = 4_000,
    batch_size: int = 256,
    learning_rate: float = 0.02,
    noise: float = 0.0,
    weight_decay: float = 0.0,
    start: str = "principal",
    seed: int = 0,
    progress: bool = False,
    on_step: Callable[[], None] = lambda: None,
) -> Student:
    """Interpolated rows trained on ``train`` by AdamW, early-stopped on ``validation``.

    Parameters
    ----------
    noise : standard deviation of noise added to the standardised values in every step; where rows are few, it keeps
        the projection from overfitting them
    weight_decay : of AdamW
    start : a name in ``STARTS``
    on_step : called before every step; an exception that it raises ends the training
    """
    student = Student.begin(train, shape, seed, start)
    parameters = student.parameters
    values, validation_values = (torch.from_numpy(student.standardised(rows.values)) for rows in (train, validation))
    optimizer = torch.optim.AdamW(list(parameters.values()), weight_decay=weight_decay, fused=True)
    n = len(values)
    batch_size = min(batch_size, max(16, n // 8))
    n_epochs = max(4, min(MAX_EPOCHS, ceil(n_steps / ceil(n / batch_size))))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, total_steps=n_epochs * ceil(n / batch_size)
    )
    generator = torch.Generator().manual_seed(seed)
    validation_loss = validation.loss_of(torch.arange(len(validation_values)))
    best, best_loss = None, np.inf
    checks = max(1, n_epochs // 16)
    for epoch in track(range(n_epochs), "training rows", n_epochs, enabled=progress):
        for batch in torch.randperm(n, generator=generator).split(batch_size):
            on_step()
            inputs = values[batch]
            if noise:
                inputs = inputs + noise * torch.randn(inputs.shape, generator=generator)
            loss = train.loss_of(batch)(student(inputs))
            for parameter in parameters.values():
                parameter.grad = None  # faster than zero_grad
            loss.backward()
            optimizer.step()
            schedule.step()
        if epoch >= n_epochs // 2 and (epoch % checks == 0 or epoch == n_epochs - 1):
            with torch.no_grad():
                now = float(validation_loss(student(validation_values)))
            if now < best_loss:
                best, best_loss = {name: value.detach().clone() for name, value in parameters.items()}, now
    if best is not None:
        student.parameters = best
    return student


@torch.no_grad()
def assemble(student: Student, inputs: Inputs, unit: np.ndarray, middle: np.ndarray, **labels: Any) -> Model:
    """The model of trained rows; its outputs are ``unit`` (C,) times those of the student plus ``middle`` (C,)."""
    stored = {name: value.detach().numpy().astype(np.float64) for name, value in student.rounded().items()}
    factor = float(1 << WIDTH_BITS)
    steps = stored["matrix"] / student.deviations[:, None]
    constant = stored["shift"] - student.means @ steps
    projection = integer_projection(steps, constant, inputs.largest, student.shape.projection_type, factor, LIMIT)
    hashes = PooledRows(pool_of(student.shape, student.pool.seed, WIDTH_BITS), student.shape.n_rows, interpolate=True)
    counters, step = _as_integers(stored["counters"])
    fields: dict[str, Any] = {**labels, **stored_offset(stored["offset"] * unit + middle, labels.get("task"))}
    decoded: dict[str, Any] = {}
    if "decode" in stored:
        decode, decode_step = _as_integers(stored["decode"], 7)
        step *= decode_step
        decoded = {"row_decode": decode, "decode_bits": 4}
    if "linear" in stored:
        linear, linear_step = _as_integers(stored["linear"] * unit)
        fields |= {"linear": linear, "linear_gain": np.full(1, linear_step / factor, np.float32)}
    rows = RowGroup(hashes, counters, gain_of(unit * step / factor), "int8", aggregate="sum", **decoded)
    return Model(inputs, projection, (rows,), **fields)


def _as_integers(values: np.ndarray, largest: int = 127) -> tuple[np.ndarray, float]:
    """Multiples, int8, of a step, and that step: the largest value becomes ``largest``."""
    step = max(float(np.abs(values).max()), 1e-12) / largest
    return np.rint(values / step).astype(np.int8), step
