"""Models of one shape trained side by side by gradient descent, each with a rate of its own.

Small models leave a processor idle between two steps; a dozen at once take little longer than one. Their numbers are
rounded as they are kept while steps get smaller, so that what is kept is what was trained.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from ..threads import one_torch_thread
from ..train.training_data import TrainingData
from .tuning import Settings

BATCH_SIZE = 256
ROUGH_STEPS, THOROUGH_STEPS, FEWEST_STEPS = 400, 2_000, 250
MOST_WORK = 1.5e11  # multiply-adds of a training, about; large models take fewer steps
MOST_EPOCHS = 400
ROUNDED_FROM = 0.4  # of a training on, numbers are rounded; before, steps are too large for it to matter
MOST_CHECKS = 12  # of the rows held out
_RATE = 0.01  # of the optimiser; members differ in what a step is worth

Parameters = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows to learn: values (n, D), labels and a teacher's answers (n, C)."""

    values: Tensor
    labels: Tensor
    answers: Tensor
    task: str

    @classmethod
    def of(cls, problem: TrainingData, rows: np.ndarray, values: np.ndarray) -> "TrainingRows":
        """Some rows of a problem, their features given."""
        labels = torch.from_numpy(problem.labels[rows].astype(np.float32))
        answers = labels if problem.answers is None else torch.from_numpy(problem.answers[rows].astype(np.float32))
        return cls(torch.from_numpy(values), labels, answers, problem.task)

    def losses(self, outputs: Tensor, rows: Tensor | slice, mixtures: Tensor) -> Tensor:
        """Mean loss (S,) of outputs (S, b, C) for b rows, the teacher counting ``mixtures`` (S, 1, 1).

        Cross-entropy with the mixed chances; or the absolute distance to values and the squared one to answers.
        """
        labels, answers = self.labels[rows], self.answers[rows]
        if self.task == "regression":
            far = (1.0 - mixtures) * (outputs - labels).abs() + mixtures * (outputs - answers).square()
            return far.mean(dim=(1, 2))
        wanted = torch.lerp(labels, answers, mixtures)
        total = softplus(outputs) if outputs.shape[2] == 1 else torch.logsumexp(outputs, dim=2, keepdim=True)
        return (total.sum(dim=2) - (wanted * outputs).sum(dim=2)).mean(dim=1)


class Stack(ABC):
    """S models of one shape.

    Attributes
    ----------
    start : numbers to begin with, each (S, ...)
    work : multiply-adds of one row through all models, about
    """

    start: Parameters
    work: float
    is_rounded: bool = True

    @abstractmethod
    def outputs(self, numbers: Parameters, values: Tensor) -> Tensor:
        """Outputs (S, n, C) of values (n, D), with numbers rounded as they are kept if ``is_rounded``."""

    def advance(self, numbers: Parameters, share: float) -> None:
        """Told before every step which share of the training is done; from one half on, models are as they are kept."""
        self.is_rounded = share >= ROUNDED_FROM


@one_torch_thread()
def train_stack(
    stack: Stack, kept: TrainingRows, held: TrainingRows, settings: Sequence[Settings], n_steps: int, seed: int
) -> Parameters:
    """Numbers (S, ...) of each member as they were when the rows held out liked it best.

    Settings have a "rate", and may have a "decay" of the weights and a "mixture" with the teacher. A member's rate is
    what its numbers are worth in those that the optimiser, whose steps do not depend on the size of a slope, moves.
    Settings that say when a training "stopped", as a share of it, are taken as they were then, whatever the rows held
    out say. The share is kept with the numbers under this name.
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
        parts = zip(shapes.items(), flat.split(sizes, dim=1), strict=True)
        return {name: part.view(-1, *shape) for (name, shape), part in parts}

    optimizer = torch.optim.Adam([free], fused=True)
    n = len(kept.labels)
    batch_size = min(BATCH_SIZE, max(16, n // 8))
    n_batches = ceil(n / batch_size)
    affordable = MOST_WORK / (3.0 * stack.work * batch_size)
    n_steps = int(min(n_steps, max(FEWEST_STEPS, affordable)))
    n_epochs = max(2, min(MOST_EPOCHS, ceil(n_steps / n_batches)))
    n_steps = n_epochs * n_batches
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=n_steps)
    generator = torch.Generator().manual_seed(seed)
    best, best_losses = start.clone(), torch.full((len(settings),), torch.inf)
    wanted, stopped = column("stopped")[:, 0], torch.ones(len(settings))
    decays, has_decay = worth * column("decay"), bool(column("decay").any())
    checks, n_done = max(1, n_epochs // (2 * MOST_CHECKS)), 0
    for epoch in range(n_epochs):
        for batch in torch.randperm(n, generator=generator).split(batch_size):
            numbers, share = named(free * worth), n_done / n_steps
            stack.advance(numbers, share)
            loss = kept.losses(stack.outputs(numbers, kept.values[batch]), batch, mixtures).sum()
            optimizer.zero_grad()
            loss.backward()
            if has_decay:
                free.data.mul_(1.0 - schedule.get_last_lr()[0] * decays)
            optimizer.step()
            schedule.step()
            n_done += 1
        if epoch >= n_epochs // 2 and (epoch % checks == 0 or epoch == n_epochs - 1):
            with torch.no_grad():
                losses = held.losses(stack.outputs(named(free * worth), held.values), slice(None), none)
                share = (epoch + 1) / n_epochs
                is_better = torch.where(wanted > 0, best_losses.isinf() & (share >= wanted), losses < best_losses)
                stopped[is_better] = share
                best_losses[is_better] = losses[is_better]
                best[is_better] = (free * worth)[is_better]
    return named(best) | {"stopped": stopped}
