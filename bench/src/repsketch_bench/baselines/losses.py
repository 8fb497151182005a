"""What networks minimise: the loss against labels, and Hinton's mixture of soft labels and labels."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from .rows import Rows
from .training import Loss


def output_units(rows: Rows) -> tuple[float, float]:
    """Median and standard deviation of the values, in whose units networks are trained; 0 and 1 for classes.

    >>> output_units(Rows.split([[1.0]] * 5, [3.0, 3.0, 3.0, 3.0, 3.0], "regression"))
    (3.0, 1.0)
    """
    if rows.task == "classification":
        return 0.0, 1.0
    return float(np.median(rows.y_train)), float(rows.y_train.std() or 1.0)


def label_loss(rows: Rows) -> Loss:
    """Cross entropy, or absolute error in standard deviations; places count training rows, then validation rows."""
    wanted = _in_units(rows, np.concatenate([rows.y_train, rows.y_valid]))
    if rows.task == "classification":
        return lambda outputs, places: binary_cross_entropy_with_logits(outputs[:, 0], wanted[places])
    return lambda outputs, places: (outputs[:, 0] - wanted[places]).abs().mean()


def teacher_loss(rows: Rows, teacher_outputs: np.ndarray, temperature: float, share: float) -> Loss:
    """``share`` of the loss against the teacher's outputs (n_train,), the rest against labels.

    Classes: cross entropy with sigmoid(log-odds / T), times T squared (Hinton, Vinyals and Dean 2015), so that the
    gradient keeps its size. Values: absolute error, as for labels; the temperature is not used.
    """
    hard = label_loss(rows)
    given = _in_units(rows, teacher_outputs)
    if rows.task == "regression":
        return lambda outputs, places: (
            share * (outputs[:, 0] - given[places]).abs().mean() + (1.0 - share) * hard(outputs, places)
        )
    soft = torch.sigmoid(given / temperature)

    def loss_of(outputs: Tensor, places: Tensor) -> Tensor:
        softened = binary_cross_entropy_with_logits(outputs[:, 0] / temperature, soft[places])
        return share * temperature**2 * softened + (1.0 - share) * hard(outputs, places)

    return loss_of


def _in_units(rows: Rows, values: np.ndarray) -> Tensor:
    middle, deviation = output_units(rows)
    return torch.tensor((values - middle) / deviation, dtype=torch.float32)
