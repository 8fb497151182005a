"""The kernel model while it is trained: NumPy parameters, in standardised inputs and outputs, and their gradients.

Made by ``Student.start`` from a sample of the data, refined by ``distill``, and turned into a
``KernelModel`` in the units of the raw data by ``Student.finish``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..lsh import Family
from ..parallel import Workers
from .initialize import InputScale, initial_bandwidth, initial_points, initial_projection, initial_weights
from .kernel_model import KernelModel
from .pairs import CLOSED_FORMS, AsHashed, Gradient, PairKernel, Pairs


@dataclass(frozen=True)
class Evaluation:
    """What a student computes for a batch; gradients need all of it."""

    z: np.ndarray  # (n, p) projected inputs
    kernel: np.ndarray  # (n, M) of inputs and points
    norms: np.ndarray  # (M, C) kernel of the points times their weights
    outputs: np.ndarray  # (n, C)
    norm: float  # squared norm of f_K, mean over the outputs
    differentiate: Gradient


@dataclass
class Student:
    """Parameters of f_K during training, and what is fixed."""

    parameters: dict[str, np.ndarray]  # float32: projection, shift, points, log_bandwidth, weights, bias, linear
    family: Family
    n_concat: int
    kernel: str
    n_directions: int
    seed: int
    pairs: Pairs
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
        workers: Workers,
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
        pairs = Pairs(pair_kernel(family, kernel, n_directions, n_concat, z.shape[1], seed), workers)
        values, _ = pairs(*((side / bandwidth).astype(np.float32) for side in (z, arrays["points"])))
        arrays["weights"] = initial_weights(values, wanted)
        arrays["bias"] = np.zeros(targets.shape[1])
        if linear:
            arrays["linear"] = np.zeros((z.shape[1], targets.shape[1]))
        parameters = {name: np.array(array, dtype=np.float32) for name, array in arrays.items()}
        return cls(parameters, family, n_concat, kernel, n_directions, seed, pairs, inputs, mean, scale)

    @property
    def trained(self) -> dict[str, np.ndarray]:
        """The parameters that are trained: sets stay where they are, and not every family has a bandwidth."""
        fixed = set() if self.family.is_differentiable else {"points"}
        if not self.family.has_bandwidth:
            fixed.add("log_bandwidth")
        return {name: value for name, value in self.parameters.items() if name not in fixed}

    def standardise(self, targets: np.ndarray) -> np.ndarray:
        """Teacher outputs (n, C) in the units the student is trained in, float32."""
        return ((targets - self.output_mean) / self.output_scale).astype(np.float32)

    def __call__(self, X: np.ndarray) -> Evaluation:
        """Outputs (n, C) for standardised inputs, and the mean squared norm of f_K over the outputs.

        The norm weights' K weights of the kernel's Hilbert space is what the representer theorem
        penalises; here it is also the variance that folding into buckets adds to a row (docs/theory.md).
        """
        p = self.parameters
        z = X @ p["projection"] if "projection" in p else X
        if "shift" in p:
            z = z + p["shift"]
        # One pass for queries and points: the points' own kernel gives the norm.
        scale = np.exp(-p["log_bandwidth"])
        kernel, differentiate = self.pairs(np.concatenate([z, p["points"]]) * scale, p["points"] * scale)
        kernel, own = kernel[: len(X)], kernel[len(X) :]
        outputs = kernel @ p["weights"] + p["bias"]
        if "linear" in p:
            outputs = outputs + z @ p["linear"]
        norms = own @ p["weights"]
        norm = float((p["weights"] * norms).sum(axis=0).mean())
        return Evaluation(z, kernel, norms, outputs, norm, differentiate)

    def gradients(self, X: np.ndarray, wanted: np.ndarray, norm_penalty: float) -> dict[str, np.ndarray]:
        """Gradients of the loss by every trained parameter.

        The loss of standardised inputs (n, d) and outputs (n, C) is the mean squared error plus
        ``norm_penalty`` times the squared norm.
        """
        p, found = self.parameters, self(X)
        weights, points, n = p["weights"], p["points"], len(X)
        share = norm_penalty / weights.shape[1]
        by_outputs = (found.outputs - wanted) * np.float32(2.0 / wanted.size)
        gradients = {"bias": by_outputs.sum(axis=0), "weights": found.kernel.T @ by_outputs + 2.0 * share * found.norms}
        if "linear" in p:
            gradients["linear"] = found.z.T @ by_outputs
        if not self.family.is_differentiable:
            return gradients
        by_kernel = np.concatenate([by_outputs @ weights.T, weights @ weights.T * share])
        scale = np.exp(-p["log_bandwidth"])
        by_queries, by_points = (grad * scale for grad in found.differentiate(by_kernel))
        by_z = by_queries[:n]
        gradients["points"] = by_points + by_queries[n:]
        if self.family.has_bandwidth:
            # The kernel sees coordinates over the bandwidth only: a wider one is like nearer coordinates.
            gradients["log_bandwidth"] = -((by_z * found.z).sum() + (gradients["points"] * points).sum())
        if "linear" in p:
            by_z = by_z + by_outputs @ p["linear"].T
        gradients["projection"] = X.T @ by_z
        if "shift" in p:
            gradients["shift"] = by_z.sum(axis=0)
        return gradients

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


def pair_kernel(
    family: Family, kernel: str, n_directions: int, n_concat: int, n_components: int, seed: int
) -> PairKernel:
    """The kernel of a family that ``kernel`` names, at bandwidth 1.

    >>> from repsketch import lsh
    >>> type(pair_kernel(lsh.L1(), "closed_form", 0, 1, 8, 0)).__name__
    'L1ClosedForm'
    """
    if kernel == "closed_form":
        return CLOSED_FORMS[family.name](n_concat)
    functions = family.sample(n_components, n_directions, n_concat, seed)
    return AsHashed(functions.parameters["directions"], family.with_bandwidth(1.0).unit_scale)
