"""Models of one shape trained side by side by gradient descent, each with its own hyper-parameters.

Small models leave a processor idle between two steps; a dozen at once take little longer than one. Training is
quantisation-aware: parameters are rounded as they are stored from ``ROUNDED_FROM`` on.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from repsketch.compare.tuning import Settings
from repsketch.train.training_data import TrainingData
from repsketch_bench.threads import one_torch_thread

BATCH_SIZE = 256
SCREENING_STEPS, FINAL_STEPS, MIN_STEPS = 400, 2_000, 250
MAX_WORK = 1.5e11  # multiply-adds of a training, about; large models train for fewer steps
MAX_EPOCHS = 400
ROUNDED_FROM = 0.4  # share of the training after which parameters are rounded; before, steps are too large to matter
MAX_CHECKS = 12  # of the validation loss
_RATE = 0.01  # learning rate of the optimiser; members scale their parameters instead

Parameters = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows to train on or to validate with: values (n, D), labels and soft labels (n, C)."""

    values: Tensor
    labels: Tensor
    soft_labels: Tensor
    loss: str
    level: float = 0.5
    weights: Tensor | None = None

    @classmethod
    def of(cls, data: TrainingData, rows: np.ndarray, values: np.ndarray) -> "TrainingRows":
        """Some rows of the data with their features (n, D)."""
        labels = torch.from_numpy(data.labels[rows].astype(np.float32))
        soft_labels = (
            labels if data.soft_labels is None else torch.from_numpy(data.soft_labels[rows].astype(np.float32))
        )
        weights = None if data.weights is None else torch.from_numpy(data.weights[rows].astype(np.float32))
        return cls(torch.from_numpy(values), labels, soft_labels, data.loss, data.level, weights)

    def losses(self, outputs: Tensor, rows: Tensor | slice, mixtures: Tensor) -> Tensor:
        """Mean loss (S,) of outputs (S, b, C) for b rows; the soft labels have the weights ``mixtures`` (S, 1, 1).

        Cross-entropy with the mixed probabilities; or the loss of labels and the squared error of soft labels.
        """
        labels, soft_labels = self.labels[rows], self.soft_labels[rows]
        if self.loss == "log_loss":
            targets = torch.lerp(labels, soft_labels, mixtures)
            total = softplus(outputs) if outputs.shape[2] == 1 else torch.logsumexp(outputs, dim=2, keepdim=True)
            losses = total.sum(dim=2) - (targets * outputs).sum(dim=2)
        else:
            errors = (1.0 - mixtures) * self._errors(outputs - labels) + mixtures * (outputs - soft_labels).square()
            losses = errors.mean(dim=2)
        return (losses if self.weights is None else losses * self.weights[rows]).mean(dim=1)

    def _errors(self, residuals: Tensor) -> Tensor:
        if self.loss == "squared_error":
            return residuals.square()
        errors = residuals.abs()
        return errors if self.loss == "absolute_error" else 0.5 * errors - (self.level - 0.5) * residuals


class Stack(ABC):
    """S models of one shape.

    Attributes
    ----------
    start : initial parameters, each (S, ...)
    work : multiply-adds of one row through all models, about
    is_rounded : parameters are rounded as they are stored
    """

    start: Parameters
    work: float
    is_rounded: bool = True

    @abstractmethod
    def outputs(self, numbers: Parameters, values: Tensor) -> Tensor:
        """Outputs (S, n, C) of values (n, D), with parameters rounded as they are stored if ``is_rounded``."""

    def advance(self, numbers: Parameters, share: float) -> None:
        """Called before every step with the share of the training that is done; sets ``is_rounded``."""
        self.is_rounded = share >= ROUNDED_FROM


@one_torch_thread()
def train_stack(
    stack: Stack, train: TrainingRows, validation: TrainingRows, settings: Sequence[Settings], n_steps: int, seed: int
) -> Parameters:
    """Parameters (S, ...) of each member, early-stopped on the validation rows.

    Settings have a learning "rate", and may have a weight "decay" and a "mixture", the weight of the soft labels. All
    members share one optimiser, Adam, whose steps do not depend on the scale of the gradient: a member's learning rate
    scales its parameters instead. A setting "stopped" is the share of the training after which to stop, whatever the
    validation loss; the share at which each member stopped is returned under the same name.
    """

    def column(name: str) -> Tensor:
        return torch.tensor([[float(setting.get(name, 0.0))] for setting in settings])

    mixtures, none = column("mixture").unsqueeze(2), torch.zeros(len(settings), 1, 1)
    worth = column("rate") / _RATE
    shapes = {name: value.shape[1:] for name, value in stack.start.items()}
    sizes = [shape.numel() for shape in shapes.values()]
    start = torch.cat([value.flatten(1) for value in stack.start.values()], dim=1)
    free = (start / worth).requires_grad_()

    def named(flat: Tensor) -> Parameters:
        pieces = zip(shapes.items(), flat.split(sizes, dim=1), strict=True)
        return {name: piece.view(-1, *shape) for (name, shape), piece in pieces}

    optimizer = torch.optim.Adam([free], fused=True)
    n = len(train.labels)
    batch_size = min(BATCH_SIZE, max(16, n // 8))
    n_batches = ceil(n / batch_size)
    affordable = MAX_WORK / (3.0 * stack.work * batch_size)
    n_steps = int(min(n_steps, max(MIN_STEPS, affordable)))
    n_epochs = max(2, min(MAX_EPOCHS, ceil(n_steps / n_batches)))
    n_steps = n_epochs * n_batches
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=n_steps)
    generator = torch.Generator().manual_seed(seed)
    best, best_losses = start.clone(), torch.full((len(settings),), torch.inf)
    wanted, stopped = column("stopped")[:, 0], torch.ones(len(settings))
    decays, has_decay = worth * column("decay"), bool(column("decay").any())
    checks, n_done = max(1, n_epochs // (2 * MAX_CHECKS)), 0
    for epoch in range(n_epochs):
        for batch in torch.randperm(n, generator=generator).split(batch_size):
            numbers, share = named(free * worth), n_done / n_steps
            stack.advance(numbers, share)
            loss = train.losses(stack.outputs(numbers, train.values[batch]), batch, mixtures).sum()
            optimizer.zero_grad()
            loss.backward()
            if has_decay:
                free.data.mul_(1.0 - schedule.get_last_lr()[0] * decays)
            optimizer.step()
            schedule.step()
            n_done += 1
        if epoch >= n_epochs // 2 and (epoch % checks == 0 or epoch == n_epochs - 1):
            with torch.no_grad():
                losses = validation.losses(stack.outputs(named(free * worth), validation.values), slice(None), none)
                share = (epoch + 1) / n_epochs
                is_better = torch.where(wanted > 0, best_losses.isinf() & (share >= wanted), losses < best_losses)
                stopped[is_better] = share
                best_losses[is_better] = losses[is_better]
                best[is_better] = (free * worth)[is_better]
    return named(best) | {"stopped": stopped}
