"""Multilayer perceptrons, the paper's teachers, trained as well as such networks get.

Weight decay, dropout, a one-cycle learning rate, and the parameters of the epoch with the best
validation loss. The returned module takes raw inputs and gives log-odds, logits or values.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from repsketch.data.arrays import as_outputs, as_table, iterate_blocks
from repsketch.paper.initialize import InputScale
from repsketch.predictor import TASKS

from .training import train_epochs


class _Affine(nn.Module):
    """x * scale + shift with fixed numbers."""

    scale: Tensor
    shift: Tensor

    def __init__(self, scale: np.ndarray, shift: np.ndarray):
        super().__init__()
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float32))
        self.register_buffer("shift", torch.tensor(shift, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        """Scaled and shifted copy of x (n, width)."""
        return x * self.scale + self.shift


def train_mlp(
    X: np.ndarray,
    y: np.ndarray,
    hidden: Sequence[int] = (512, 256, 128),
    *,
    task: str,
    n_epochs: int = 8,
    batch_size: int = 256,
    learning_rate: float = 1e-3,
    weight_decay: float = 1e-2,
    dropout: float = 0.5,
    validation_fraction: float = 0.1,
    random_state: int = 0,
    progress: bool = True,
) -> nn.Sequential:
    """A trained network: inputs (n, d) -> (n, 1) log-odds or values, or (n, C) logits for more than two classes.

    Parameters
    ----------
    X : (n, d) inputs
    y : (n,) class numbers 0 ... C-1, or values; regression minimises the absolute error
    task : "classification" or "regression"

    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> train_mlp(X, X[:, 0] > 0, hidden=(8,), task="classification", n_epochs=1)(torch.zeros(5, 3)).shape
    torch.Size([5, 1])
    """
    if task not in TASKS:
        raise ValueError(f"task={task!r}; allowed are {TASKS}.")
    inputs = np.concatenate([block for _, block in iterate_blocks(as_table(X))])
    targets = as_outputs(y, len(inputs), "y")[:, 0]
    generator = torch.Generator().manual_seed(random_state)
    order = torch.randperm(len(inputs), generator=generator)
    n_validation = max(1, int(len(order) * validation_fraction))
    validation, train = order[:n_validation], order[n_validation:]
    scale = InputScale.fit(inputs)
    n_classes = int(targets.max()) + 1 if task == "classification" else 0
    width_out = n_classes if n_classes > 2 else 1
    middle, deviation = (np.median(targets), targets.std() or 1.0) if task == "regression" else (0.0, 1.0)
    with torch.random.fork_rng():
        torch.manual_seed(random_state)  # initial weights and dropout
        model = nn.Sequential(
            _Affine(1.0 / scale.scale, -scale.mean / scale.scale),
            *_layers(inputs.shape[1], hidden, width_out, dropout),
            _Affine(np.array(deviation), np.array(middle)),
        )
        wanted = torch.tensor((targets - middle) / deviation, dtype=torch.float32)
        loss_of = _loss(task, width_out)
        train_epochs(
            model[:-1],  # the loss is taken before the outputs get their units back
            torch.from_numpy(inputs),
            lambda outputs, rows: loss_of(outputs, wanted[rows]),
            train,
            validation,
            generator,
            n_epochs=n_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            title="training the teacher",
            progress=progress,
        )
    return model.eval()


def widths_of(model: nn.Module) -> list[int]:
    """Layer widths of a network, inputs and outputs included, for ``Cost.of_mlp``."""
    layers = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    return [layers[0].in_features, *(layer.out_features for layer in layers)]


def _layers(width: int, hidden: Sequence[int], width_out: int, dropout: float) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [nn.Linear(width, size), nn.ReLU(), nn.Dropout(dropout)]
        width = size
    return [*layers, nn.Linear(width, width_out)]


def _loss(task: str, width_out: int):
    if task == "regression":
        return lambda outputs, wanted: (outputs[:, 0] - wanted).abs().mean()
    if width_out == 1:
        return lambda outputs, wanted: nn.functional.binary_cross_entropy_with_logits(outputs[:, 0], wanted)
    return lambda outputs, wanted: nn.functional.cross_entropy(outputs, wanted.long())
