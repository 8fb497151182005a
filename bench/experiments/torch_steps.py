"""Interpolated rows trained by torch, as version 0.1 did: the loop that steps of the trainer in C are compared with."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from repsketch.train.stage_shape import RowsHead

BATCH_SIZE = 256


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


class TorchRows:
    """Interpolated rows of one output behind a projection, with a linear term."""

    def __init__(self, head: RowsHead, n_values: int) -> None:
        generator, p = torch.Generator().manual_seed(0), head.n_components
        self.n_components, self.n_levels = p, head.n_levels
        self.parameters = {
            "matrix": torch.randn(n_values, p, generator=generator) / n_values**0.5,
            "shift": torch.zeros(p),
            "counters": 0.01 * torch.randn(p, head.n_levels, 1, generator=generator),
            "linear": torch.zeros(p, 1),
            "offset": torch.zeros(1),
        }
        for value in self.parameters.values():
            value.requires_grad_()

    def __call__(self, values: Tensor) -> Tensor:
        """Outputs (n, 1) for standardised values (n, D), with parameters rounded."""
        p, top = self.parameters, float(self.n_levels - 1)
        z = values @ _Round.apply(p["matrix"], True) + p["shift"]
        u = (z + top / 2.0).clamp(0.0, top)
        lower = u.detach().floor().clamp_max(top - 1.0)
        places = lower.long() + self.n_levels * torch.arange(self.n_components)
        table = _Round.apply(p["counters"], False).flatten(0, 1)
        read = torch.lerp(table[places], table[places + 1], (u - lower)[..., None])  # (n, L, 1)
        return read.sum(dim=1) + z @ p["linear"] + p["offset"]

    def steps(self, values: np.ndarray, labels: np.ndarray, n_steps: int) -> Iterator[int]:
        """Train on integer values (n, D) and labels (n, 1); one item for every step."""
        x, y = (torch.from_numpy(array.astype(np.float32)) for array in (values, labels))
        x = (x - x.mean(dim=0)) / x.std(dim=0)
        optimizer = torch.optim.AdamW(list(self.parameters.values()), fused=True)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=n_steps)
        generator, done = torch.Generator().manual_seed(0), 0
        while done < n_steps:
            for batch in torch.randperm(len(x), generator=generator).split(BATCH_SIZE)[: n_steps - done]:
                loss = (self(x[batch]) - y[batch]).abs().mean()
                for parameter in self.parameters.values():
                    parameter.grad = None
                loss.backward()
                optimizer.step()
                schedule.step()
                done += 1
                yield done
