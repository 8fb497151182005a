"""Stage 1's result: f_K(q) = sum_j weight_j k(A'q, x_j)**K + bias, the weighted kernel sum.

Takes inputs X; hands on outputs, and its points and weights to ``build_sketch``.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import check_choice, check_count
from ..core import KERNEL_LANES, KERNEL_MAX_CONCAT, require_native
from ..data.arrays import as_table, check_not_empty, check_width, iterate_blocks
from ..display import describe_columns, describe_outputs
from ..errors import InputError
from ..lsh import Family, HashFunctions
from ..lsh.family import saturate
from ..lsh.generator import MAX_ROWS
from ..predictor import Predictor

KERNELS = ("as_hashed", "closed_form")


@dataclass(frozen=True, eq=False)
class KernelModel(Predictor):
    """A weighted sum of LSH kernels. Paper: Section 3.4, f_K.

    Attributes
    ----------
    points : (M, p) float32, x_j
    weights : (M, C) float32, alpha_j
    bias : (C,) float32
    family : the LSH family, with its learned bandwidth
    n_concat : codes a row, K
    projection : (d, p) float32, A; None where points live in the input space
    shift : (p,) float32 added after the projection; None where the points have absorbed it
    linear : (p, C) float32, an added linear term on the projected input; None without
    kernel : "closed_form", the textbook kernel, or "as_hashed", the average over the first
        ``n_directions`` hash directions that ``seed`` gives (erratum 3)

    >>> from repsketch import lsh
    >>> bump = KernelModel(np.zeros((1, 2)), np.ones((1, 1)), np.zeros(1), lsh.L1(bandwidth=1.0))
    >>> bump.predict([[0.0, 0.0], [1.0, 1.0]]).round(3).tolist()
    [1.0, 0.13500000536441803]
    """

    points: np.ndarray
    weights: np.ndarray
    bias: np.ndarray
    family: Family
    n_concat: int = 1
    projection: np.ndarray | None = None
    shift: np.ndarray | None = None
    linear: np.ndarray | None = None
    kernel: str = "closed_form"
    n_directions: int = 256
    seed: int = 0
    task: str | None = None
    classes: np.ndarray | None = None
    sample: np.ndarray | None = None  # a few inputs (n, d), float32, that a sketch is quantised by

    def __repr__(self) -> str:
        outputs = describe_outputs(self.task, self.n_outputs, self.classes)
        columns = describe_columns(self.n_features, self.n_features)
        return f"KernelModel({outputs}, {columns}, {len(self.points):,} points, {self.family!r})"

    def __post_init__(self) -> None:
        check_kernel(self.kernel, self.family, self.n_concat)
        if self.kernel == "as_hashed" and check_count("n_directions", self.n_directions, MAX_ROWS) % KERNEL_LANES:
            raise InputError(f"n_directions={self.n_directions}; allowed is a multiple of {KERNEL_LANES}.")

    @property
    def n_features(self) -> int:
        """Number of input features, d."""
        return len(self.projection) if self.projection is not None else self.points.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of outputs, C."""
        return self.weights.shape[1]

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        arrays = (self.points, self.weights, self.bias, self.projection, self.shift, self.linear)
        return sum(array.size for array in arrays if array is not None)

    @cached_property
    def _functions(self) -> HashFunctions:
        return self.family.sample(self.points.shape[1], self.n_directions, self.n_concat, self.seed)

    def transform(self, X: Any) -> np.ndarray:
        """Projected inputs z = A'x + shift, float32 (n, p)."""
        table = as_table(X)
        check_width(table, self.n_features)
        check_not_empty(table)
        return np.concatenate([self._project(block) for _, block in iterate_blocks(table)])

    def _project(self, block: np.ndarray) -> np.ndarray:
        block = saturate(block)
        z = block if self.projection is None else block @ self.projection
        return z if self.shift is None else z + self.shift

    def kernel_matrix(self, X: Any) -> np.ndarray:
        """k(A'q, x_j)**K for every row q of X and every point, float64 (n, M)."""
        return self._kernel_of(self.transform(X))

    def _kernel_of(self, z: np.ndarray) -> np.ndarray:
        if self.kernel == "closed_form":
            return self.family.closed_form(z, self.points, self.n_concat)
        matrix = direction_matrix(self._functions.parameters["directions"], self.family.unit_scale)
        shape = (-1, self.n_directions // KERNEL_LANES, self.n_concat, KERNEL_LANES)
        u, v = (block_first((points @ matrix).reshape(shape)) for points in (z, self.points.astype(np.float32)))
        kernel = np.empty((len(z), len(self.points)), np.float32)
        require_native().kernel_forward(u, v, kernel)
        return kernel.astype(np.float64)

    def _outputs(self, block: np.ndarray) -> np.ndarray:
        z = self._project(block)
        outputs = self._kernel_of(z) @ self.weights + self.bias
        return outputs if self.linear is None else outputs + z @ self.linear


def offers_as_hashed(family: Family, n_concat: int) -> bool:
    """True if the C core can average this family's kernel over given directions."""
    return family.has_row_kernel and n_concat <= KERNEL_MAX_CONCAT


def check_kernel(kernel: str, family: Family, n_concat: int) -> str:
    """Return ``kernel`` if it names a kernel that this family has."""
    if check_choice("kernel", kernel, KERNELS) == "as_hashed" and not offers_as_hashed(family, n_concat):
        raise InputError(
            f"kernel='as_hashed' with family {family.name!r} and n_concat={n_concat}; it is offered for 'l2' with at "
            f"most {KERNEL_MAX_CONCAT} codes. Use kernel='closed_form'."
        )
    return kernel


def direction_matrix(directions: np.ndarray, unit: float) -> np.ndarray:
    """Directions (rows, K, p) times ``unit`` as float32 (p, rows * K), columns in the C core's order.

    Points (n, p) times this matrix, reshaped to (n, rows / 16, K, 16), are their positions along
    every direction.
    """
    n_rows, n_concat, p = directions.shape
    blocks = directions.reshape(n_rows // KERNEL_LANES, KERNEL_LANES, n_concat, p).transpose(3, 0, 2, 1)
    return (blocks.reshape(p, -1) * unit).astype(np.float32)


def block_first(positions: np.ndarray) -> np.ndarray:
    """Positions (n, blocks, K, 16) as the C core reads them, contiguous (blocks, n, K, 16)."""
    return np.ascontiguousarray(positions.transpose(1, 0, 2, 3))
