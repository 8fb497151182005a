"""Quantised weights, during training and after: int8 times a step in bfloat16."""

import numpy as np
import torch
from torch import Tensor

from repsketch.model.numbers import encode_bfloat16

LARGEST = 127
_SMALLEST_STEP = 1e-12


def rounded(values: Tensor, dims: tuple[int, ...]) -> Tensor:
    """``values`` rounded as they are stored, with one step along ``dims``; the gradient passes straight through.

    >>> rounded(torch.tensor([[127.0, 0.6, -3.2]]), (1,)).tolist()
    [[127.0, 1.0, -3.0]]
    """
    with torch.no_grad():
        step = _step(values, dims)
        change = (values / step).round_().clamp_(-LARGEST, LARGEST).mul_(step).sub_(values)
    return values + change


def rounded_halves(values: Tensor) -> Tensor:
    """``values`` rounded to bfloat16; the gradient passes straight through."""
    with torch.no_grad():
        change = values.to(torch.bfloat16).to(values.dtype) - values
    return values + change


def to_int8(values: Tensor, dims: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Quantised values, int8, and their steps as bits of bfloat16, uint16."""
    with torch.no_grad():
        step = _step(values, dims)
        numbers = (values / step).round().clamp(-LARGEST, LARGEST).to(torch.int8)
    return numbers.numpy(), encode_bfloat16(step.numpy().ravel())


def _step(values: Tensor, dims: tuple[int, ...]) -> Tensor:
    step = values.abs().amax(dims, keepdim=True).div_(LARGEST).clamp_min_(_SMALLEST_STEP)
    return step.to(torch.bfloat16).to(values.dtype)
