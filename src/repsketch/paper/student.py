"""The kernel model while it is trained: torch parameters, in standardised inputs and outputs.

Made by ``Student.start`` from a sample of the data, refined by ``distill``, and turned into a
``KernelModel`` in the units of the raw data by ``Student.finish``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..lsh import Family
from .initialize import InputScale, initial_bandwidth, initial_points, initial_projection, initial_weights
from .kernel_model import KernelModel
from .pairs import CLOSED_FORMS, AsHashed

PairKernel = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass
class Student:
    """Parameters of f_K during training, and what is fixed."""

    parameters: dict[str, Tensor]  # projection, shift, points, log_bandwidth, weights, bias, linear
    family: Family
    n_concat: int
    kernel: str
    n_directions: int
    seed: int
    pair_kernel: PairKernel
    inputs: InputScale
    output_mean: np.ndarray
    output_scale: np.ndarray

    @classmethod
    def start(
        cls,
        X: np.ndarray,
        targets: np.ndarray,
        *,
        family: Family,
        keep_bandwidth: bool,
        kernel: str,
        n_directions: int,
        n_concat: int,
        n_points: int,
        n_components: int,
        linear: bool,
        seed: int,
    ) -> "Student":
        """A student initialised on a sample of raw inputs (n, d) and teacher outputs (n, C)."""
        rng = np.random.default_rng(seed)
        mean, scale = targets.mean(axis=0), targets.std(axis=0)
        scale = np.where(scale > 1e-12 * np.maximum(1.0, np.abs(mean)), scale, 1.0)
        wanted = (targets - mean) / scale
        moves = family.is_differentiable
        inputs = InputScale.fit(X) if moves else InputScale(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        z = inputs.apply(X)
        arrays: dict[str, Any] = {}
        if moves:
            arrays["projection"] = initial_projection(z, wanted, n_components, rng)
            z = z @ arrays["projection"]
            if not family.is_shift_invariant:  # the origin matters: it is learned, starting from the mean
                arrays["shift"] = np.zeros(n_components)
            arrays["points"] = initial_points(z, n_points, rng)
        else:
            arrays["points"] = z[rng.choice(len(z), n_points, replace=n_points > len(z))]
        bandwidth = family.file_parameters[0] or 1.0
        if moves and not keep_bandwidth:
            bandwidth = initial_bandwidth(arrays["points"], n_concat)
        arrays["log_bandwidth"] = np.log(bandwidth)
        pair_kernel = _pair_kernel(family, kernel, n_directions, n_concat, z.shape[1], seed)
        values = pair_kernel(*(torch.tensor(a, dtype=torch.float32) for a in (z, arrays["points"], bandwidth)))
        arrays["weights"] = initial_weights(values.numpy(), wanted)
        arrays["bias"] = np.zeros(targets.shape[1])
        if linear:
            arrays["linear"] = np.zeros((z.shape[1], targets.shape[1]))
        fixed = () if moves else ("points", "log_bandwidth")
        parameters = {
            name: torch.tensor(array, dtype=torch.float32, requires_grad=name not in fixed)
            for name, array in arrays.items()
        }
        return cls(parameters, family, n_concat, kernel, n_directions, seed, pair_kernel, inputs, mean, scale)

    def standardise(self, targets: np.ndarray) -> np.ndarray:
        """Teacher outputs (n, C) in the units the student is trained in, float32."""
        return ((targets - self.output_mean) / self.output_scale).astype(np.float32)

    def __call__(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs (n, C) for standardised inputs, and the mean squared norm of f_K over the outputs.

        The norm weights' K weights of the kernel's Hilbert space is what the representer theorem
        penalises; here it is also the variance that folding into buckets adds to a row (docs/theory.md).
        """
        p = self.parameters
        z = X @ p["projection"] if "projection" in p else X
        if "shift" in p:
            z = z + p["shift"]
        # One pass for queries and points: the points' own kernel gives the norm.
        kernel = self.pair_kernel(torch.cat([z, p["points"]]), p["points"], p["log_bandwidth"].exp())
        outputs = kernel[: len(X)] @ p["weights"] + p["bias"]
        if "linear" in p:
            outputs = outputs + z @ p["linear"]
        norm = (p["weights"] * (kernel[len(X) :] @ p["weights"])).sum(dim=0).mean()
        return outputs, norm

    def finish(self, best: dict[str, np.ndarray], task: str, classes: np.ndarray | None) -> KernelModel:
        """The kernel model with parameters ``best``, in raw inputs and the teacher's own units."""
        arrays = {name: array.astype(np.float64) for name, array in best.items()}
        points, bias, shift, projection = arrays["points"], arrays["bias"], None, None
        linear = arrays.get("linear")
        if "projection" in arrays:
            projection = arrays["projection"] / self.inputs.scale[:, None]
            shift = -self.inputs.mean @ projection
            if self.family.is_shift_invariant:  # shifting the points instead saves p numbers
                points = points - shift
                bias = bias if linear is None else bias + shift @ linear
                shift = None
            else:
                shift = shift + arrays["shift"]

        def narrow(array: np.ndarray | None) -> np.ndarray | None:
            return None if array is None else array.astype(np.float32)

        return KernelModel(
            points=points.astype(np.float32),
            weights=(arrays["weights"] * self.output_scale).astype(np.float32),
            bias=(bias * self.output_scale + self.output_mean).astype(np.float32),
            family=self.family.with_bandwidth(float(np.exp(arrays["log_bandwidth"]))),
            n_concat=self.n_concat,
            projection=narrow(projection),
            shift=narrow(shift),
            linear=narrow(None if linear is None else linear * self.output_scale),
            kernel=self.kernel,
            n_directions=self.n_directions,
            seed=self.seed,
            task=task,
            classes=classes,
        )


def _pair_kernel(
    family: Family, kernel: str, n_directions: int, n_concat: int, n_components: int, seed: int
) -> PairKernel:
    if kernel == "closed_form":
        closed_form = CLOSED_FORMS[family.name]
        return lambda z, points, bandwidth: closed_form(z, points, bandwidth, n_concat)
    functions = family.sample(n_components, n_directions, n_concat, seed)
    unit = family.unit_scale * (family.file_parameters[0] or 1.0)
    return AsHashed(functions.parameters["directions"], unit)
