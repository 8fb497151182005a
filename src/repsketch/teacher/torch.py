"""torch modules as teachers, evaluated without gradients."""

from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import require

TORCH_BLOCK_ROWS = 8_192  # a network holds the activations of its layers for a whole block


def answer_torch(module: Any, rows: np.ndarray) -> Any:
    """Outputs of a module in evaluation mode; every part's mode is restored."""
    torch = require("torch", "train")
    batch = torch.tensor(rows)  # a copy: a first layer that works in place must not write into the caller's table
    for tensor in (*module.parameters(), *module.buffers())[:1]:
        batch = batch.to(tensor.device, tensor.dtype if tensor.is_floating_point() else batch.dtype)
    flags = [(part, part.training) for part in module.modules()]
    try:
        with suppress(NotImplementedError):  # an exported program has its mode built in and refuses to change it
            module.eval()
        with torch.inference_mode():
            answer = module(batch)
    finally:
        for part, training in flags:  # one by one: a batch normalisation may be frozen in a module that trains
            part.training = training
    # NumPy has no bfloat16.
    return answer.cpu().double() if torch.is_tensor(answer) and answer.is_floating_point() else answer
