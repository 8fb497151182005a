"""torch modules as teachers, evaluated without gradients."""

from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import require

TORCH_BLOCK_ROWS = 8_192  # a network holds the activations of all its layers for a block


def torch_outputs(module: Any, rows: np.ndarray) -> Any:
    """Outputs of a module in evaluation mode; the mode of every submodule is restored."""
    torch = require("torch", "torch")
    batch = torch.tensor(rows)  # a copy: a first layer that works in place must not write into the caller's table
    for tensor in (*module.parameters(), *module.buffers())[:1]:
        batch = batch.to(tensor.device, tensor.dtype if tensor.is_floating_point() else batch.dtype)
    flags = [(submodule, submodule.training) for submodule in module.modules()]
    try:
        with suppress(NotImplementedError):  # an exported program cannot change its mode
            module.eval()
        with torch.inference_mode():
            outputs = module(batch)
    finally:
        for submodule, training in flags:  # one by one: a batch normalisation may be frozen in a module that trains
            submodule.training = training
    # NumPy has no bfloat16.
    return outputs.cpu().double() if torch.is_tensor(outputs) and outputs.is_floating_point() else outputs
