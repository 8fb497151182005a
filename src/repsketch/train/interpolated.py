"""Rows read between two counters, trained end to end: projection, counters and decode by gradient descent.

A coordinate of a learned projection, or a sum of a few of them with signs from the seed, says where between two of R
levels a row is read. What is stored in int8 is rounded in every step of the training, with the gradient passed straight
through, so that the deployed numbers are the trained ones.
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
from ..model.projection import ternary_columns, whole_projection
from ..model.rows import RowGroup
from ..paper.initialize import initial_projection, screened_projection
from ..progress import track
from ..threads import one_torch_thread
from .assemble import gain_of, stored_offset

WIDTH_BITS = 6  # a level in 64 steps
LIMIT = 4_095  # of a coordinate, in those steps
MOST_EPOCHS = 300
SHARES = (1.0, 0.85, 0.7, 0.55)  # of the largest entry of a decode matrix that four bits may reach up to
#: Where a projection starts, and rows of data that this is found on.
STARTS = {"principal": (initial_projection, 4_096), "screened": (screened_projection, 8_192)}


@dataclass(frozen=True)
class Shape:
    """Sizes of interpolated rows.

    Attributes
    ----------
    n_components, n_rows, n_levels : p coordinates, L rows of R levels
    factored : one C-vector a row decodes it, in int4
    projection_type : "int8", or "ternary" for four times as many coordinates in as many bytes
    has_linear : a linear term on the coordinates, of p times C bytes
    """

    n_components: int
    n_rows: int
    n_levels: int = 8
    factored: bool = False
    projection_type: str = "int8"
    has_linear: bool = True


@dataclass(frozen=True)
class TrainingRows:
    """What is learned: labels and a teacher's answers, and how much each counts.

    Attributes
    ----------
    values : (n, D) whole values of the inputs
    labels : (n, C) chances of classes, or values in units of their spread
    answers : (n, C) the teacher's, in the same units; None without a teacher
    mixture : share of the teacher in the loss
    """

    values: np.ndarray
    labels: np.ndarray
    answers: np.ndarray | None
    mixture: float
    task: str

    @cached_property
    def _tensors(self) -> tuple[Tensor, Tensor]:
        labels = torch.from_numpy(self.labels.astype(np.float32))
        return labels, labels if self.answers is None else torch.from_numpy(self.answers.astype(np.float32))

    def loss_of(self, rows: Tensor) -> Callable[[Tensor], Tensor]:
        """A function of outputs for these rows."""
        labels, answers = (tensor[rows] for tensor in self._tensors)
        mixture = 0.0 if self.answers is None else self.mixture
        if self.task == "classification":
            wanted = (1.0 - mixture) * labels + mixture * answers
            if labels.shape[1] == 1:
                return lambda outputs: torch.nn.functional.binary_cross_entropy_with_logits(outputs, wanted)
            return lambda outputs: torch.nn.functional.cross_entropy(outputs, wanted)
        return lambda outputs: (
            (1.0 - mixture) * (outputs - labels).abs().mean() + mixture * (outputs - answers).square().mean()
        )


class _Round(torch.autograd.Function):
    """Whole multiples of a 127th of the largest size, by column or altogether; the gradient passes through."""

    @staticmethod
    def forward(ctx, values: Tensor, by_column: bool) -> Tensor:
        largest = values.abs().amax(dim=0, keepdim=True) if by_column else values.abs().max()
        step = largest.clamp_min(1e-12) / 127.0
        return torch.round(values / step) * step

    @staticmethod
    def backward(ctx, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0], None


class _Round4(torch.autograd.Function):
    """Whole multiples up to 7 of that step, of a few, that errs least; the gradient passes through."""

    @staticmethod
    def forward(ctx, values: Tensor) -> Tensor:
        largest = values.abs().max().clamp_min(1e-12)
        rounded = [torch.round(values * (7.0 / (share * largest))).clamp(-7.0, 7.0) * (share * largest / 7.0)
                   for share in SHARES]  # fmt: skip
        return min(rounded, key=lambda each: float((each - values).square().sum()))

    @staticmethod
    def backward(ctx, *grads: Tensor) -> Tensor:
        return grads[0]


class _Ternary(torch.autograd.Function):
    """Columns of one size with signs, or 0; the gradient passes through."""

    @staticmethod
    def forward(ctx, values: Tensor) -> Tensor:
        whole, units = ternary_columns(values.numpy())
        return torch.from_numpy((whole * units).astype(np.float32))

    @staticmethod
    def backward(ctx, *grads: Tensor) -> Tensor:
        return grads[0]


class Student:
    """Interpolated rows under training."""

    def __init__(
        self, shape: Shape, seed: int, means: np.ndarray, spreads: np.ndarray, parameters: dict[str, Tensor]
    ) -> None:
        self.shape, self.means, self.spreads, self.parameters = shape, means, spreads, parameters
        self.pool = pool_of(shape, seed, None)
        self.directions = torch.from_numpy(
            self.pool.directions.T.astype(np.float32) * 2.0 ** -self.pool.shifts.astype(np.float32)
        )

    @classmethod
    def blank(cls, shape: Shape, n_values: int, n_outputs: int, seed: int = 0) -> "Student":
        """One that answers 0."""
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
    def begin(cls, lesson: TrainingRows, shape: Shape, seed: int, start: str = "principal") -> "Student":
        """One that has learned nothing yet."""
        student = cls.blank(shape, lesson.values.shape[1], lesson.labels.shape[1], seed)
        student.means, student.spreads = _moments(lesson.values)
        project, some = STARTS[start]
        wanted = lesson.labels[:some] if lesson.answers is None else lesson.answers[:some]
        matrix = project(
            student.standardised(lesson.values[:some]), wanted - wanted.mean(axis=0), shape.n_components,
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
        """Whole values (n, D) less their means, in units of their spread, float32."""
        return (values.astype(np.float32) - self.means) / self.spreads

    def rounded(self) -> dict[str, Tensor]:
        """Parameters as they are stored."""
        p = self.parameters
        spreads = torch.from_numpy(self.spreads[:, None])  # weights are rounded as they are stored, for whole values
        steps = p["matrix"] / spreads
        is_ternary = self.shape.projection_type == "ternary"
        steps = _Ternary.apply(steps) if is_ternary else _Round.apply(steps, True)
        stored = dict(p, matrix=steps * spreads, counters=_Round.apply(p["counters"], False))
        if is_ternary:  # a shift is stored in units of the weights, which are large
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
    """Means and spreads (D,) of whole values (n, D), float32; a value that hardly varies is not blown up."""
    spreads = values.std(axis=0)
    least = 0.05 * spreads.max() if spreads.max() > 0 else 1.0
    return values.mean(axis=0).astype(np.float32), np.maximum(spreads, least).astype(np.float32)


def pool_of(shape: Shape, seed: int, width_bits: int | None) -> CodePool:
    """The rows' codes: each coordinate itself, then ternary sums of them; levels centred."""
    return CodePool(
        "ternary", shape.n_rows, shape.n_components, seed, n_levels=shape.n_levels,
        n_axes=min(shape.n_components, shape.n_rows), is_normalised=True, width_bits=width_bits,
    )  # fmt: skip


@one_torch_thread()
def train_interpolated(
    lesson: TrainingRows,
    held: TrainingRows,
    shape: Shape,
    *,
    n_steps: int = 4_000,
    batch_size: int = 256,
    learning_rate: float = 0.02,
    noise: float = 0.0,
    decay: float = 0.0,
    start: str = "principal",
    seed: int = 0,
    progress: bool = False,
    on_step: Callable[[], None] = lambda: None,
) -> Student:
    """Rows trained on ``lesson``, as they were when ``held`` liked them best.

    ``noise`` is added to the standardised values in every step: where rows are few, it keeps the projection from
    learning them by heart. ``decay`` times the size of a step is the share of every parameter that is lost in it, which
    keeps what is learned smooth. ``start`` is a name in ``STARTS``. ``on_step`` is called before every step; what it
    raises ends the training.
    """
    student = Student.begin(lesson, shape, seed, start)
    parameters = student.parameters
    values, held_values = (torch.from_numpy(student.standardised(part.values)) for part in (lesson, held))
    optimizer = torch.optim.AdamW(list(parameters.values()), weight_decay=decay, fused=True)
    n = len(values)
    batch_size = min(batch_size, max(16, n // 8))
    n_epochs = max(4, min(MOST_EPOCHS, ceil(n_steps / ceil(n / batch_size))))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, total_steps=n_epochs * ceil(n / batch_size)
    )
    generator = torch.Generator().manual_seed(seed)
    held_loss = held.loss_of(torch.arange(len(held_values)))
    best, best_loss = None, np.inf
    checks = max(1, n_epochs // 16)
    for epoch in track(range(n_epochs), "training rows", n_epochs, enabled=progress):
        for batch in torch.randperm(n, generator=generator).split(batch_size):
            on_step()
            shown = values[batch]
            if noise:
                shown = shown + noise * torch.randn(shown.shape, generator=generator)
            loss = lesson.loss_of(batch)(student(shown))
            for parameter in parameters.values():
                parameter.grad = None  # as zero_grad does, which takes longer than it should
            loss.backward()
            optimizer.step()
            schedule.step()
        if epoch >= n_epochs // 2 and (epoch % checks == 0 or epoch == n_epochs - 1):
            with torch.no_grad():
                now = float(held_loss(student(held_values)))
            if now < best_loss:
                best, best_loss = {name: value.detach().clone() for name, value in parameters.items()}, now
    if best is not None:
        student.parameters = best
    return student


@torch.no_grad()
def assemble(student: Student, inputs: Inputs, unit: np.ndarray, middle: np.ndarray, **labels: Any) -> Model:
    """The deployed form of trained rows, whose outputs are ``unit`` (C,) times theirs plus ``middle`` (C,)."""
    stored = {name: value.detach().numpy().astype(np.float64) for name, value in student.rounded().items()}
    factor = float(1 << WIDTH_BITS)
    steps = stored["matrix"] / student.spreads[:, None]
    constant = stored["shift"] - student.means @ steps
    projection = whole_projection(steps, constant, inputs.largest, student.shape.projection_type, factor, LIMIT)
    rows = PooledRows(pool_of(student.shape, student.pool.seed, WIDTH_BITS), student.shape.n_rows, interpolate=True)
    whole, step = _whole(stored["counters"])
    fields: dict[str, Any] = {**labels, **stored_offset(stored["offset"] * unit + middle, labels.get("task"))}
    decoded: dict[str, Any] = {}
    if "decode" in stored:
        decode, decode_step = _whole(stored["decode"], 7)
        step *= decode_step
        decoded = {"row_decode": decode, "decode_bits": 4}
    if "linear" in stored:
        linear, linear_step = _whole(stored["linear"] * unit)
        fields |= {"linear": linear, "linear_gain": np.full(1, linear_step / factor, np.float32)}
    part = RowGroup(rows, whole, gain_of(unit * step / factor), "int8", aggregate="sum", **decoded)
    return Model(inputs, projection, (part,), **fields)


def _whole(values: np.ndarray, largest: int = 127) -> tuple[np.ndarray, float]:
    """Whole multiples, int8, of a step that the largest of them reaches ``largest`` with, and that step."""
    step = max(float(np.abs(values).max()), 1e-12) / largest
    return np.rint(values / step).astype(np.int8), step
