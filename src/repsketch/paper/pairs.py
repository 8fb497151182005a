"""Kernel values of all (query, point) pairs, and their gradients, for training.

Takes coordinates in units of the bandwidth, so that every kernel has bandwidth 1; hands kernel values to ``student``.
The L2 kernel is computed in two ways: by its closed form, or *as hashed*, averaged over the directions that the sketch
will use (erratum 3), which runs in the C core. Angular and L1 have closed forms. MinHash compares sets; its points are
not trained.

Arrays keep the float type they come in; only ``AsHashed`` needs float32.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from math import pi, sqrt
from typing import TypeVar

import numpy as np

from ..core import KERNEL_LANES, require_native
from ..errors import require
from ..parallel import Workers
from .kernel_model import block_first, direction_matrix

_CHUNK = 128  # queries a task; fixed, so that results do not depend on the number of threads
_LEAST_SQUARE = 1e-8  # smallest squared distance: below it float32 has rounding errors only
_LARGEST_COSINE = 1 - 1e-6  # where the slope of the angle ends, which is infinite at 1
_STEEP = 1e15  # a gap times this, clipped to [-1, 1], is its sign, and 0 for 0

Result = TypeVar("Result")
#: From a loss's gradient by the kernel (n, m) to its gradients by the queries (n, p) and by the points (m, p).
Gradient = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class PairKernel(ABC):
    """A kernel of bandwidth 1 for all pairs of rows, with its gradient."""

    def embed(self, coordinates: np.ndarray) -> np.ndarray:
        """What is compared, once for every row of ``coordinates`` (n, p)."""
        return coordinates

    def embed_gradient(self, coordinates: np.ndarray, grad: np.ndarray) -> np.ndarray:
        """The gradient by ``coordinates`` (n, p) from the gradient by their embedding."""
        return grad

    @abstractmethod
    def values(self, own: np.ndarray, to: np.ndarray) -> tuple[np.ndarray, Gradient]:
        """Kernel values (n, m) of embedded queries and points, and the gradient by both embeddings."""


class Pairs:
    """Evaluates a kernel for chunks of queries, side by side in threads.

    >>> with Workers(1) as workers:
    ...     kernel, gradient = Pairs(L1ClosedForm(), workers)(np.zeros((1, 2)), np.ones((1, 2)))
    >>> kernel.round(3).tolist(), gradient(np.ones((1, 1)))[0].round(3).tolist()
    ([[0.135]], [[0.135, 0.135]])
    """

    def __init__(self, kernel: PairKernel, workers: Workers) -> None:
        self.kernel, self.workers = kernel, workers

    def __call__(self, queries: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, Gradient]:
        """Kernel values (n, m) of queries (n, p) and points (m, p), and their gradient."""
        kernel, to = self.kernel, self.kernel.embed(points)
        starts = range(0, len(queries), _CHUNK)
        chunks = [queries[start : start + _CHUNK] for start in starts]

        def evaluate(chunk: np.ndarray) -> tuple[np.ndarray, Gradient]:
            return kernel.values(kernel.embed(chunk), to)

        evaluated = self._map([partial(evaluate, chunk) for chunk in chunks])

        def differentiate(index: int, grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            grad_own, grad_to = evaluated[index][1](grad)
            return kernel.embed_gradient(chunks[index], grad_own), grad_to

        def gradient(grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            jobs = [partial(differentiate, i, grad[start : start + _CHUNK]) for i, start in enumerate(starts)]
            found = self._map(jobs)
            grad_to = found[0][1]
            for _, more in found[1:]:
                grad_to += more
            return np.concatenate([grad_own for grad_own, _ in found]), kernel.embed_gradient(points, grad_to)

        return np.concatenate([values for values, _ in evaluated]), gradient

    def _map(self, jobs: Sequence[Callable[[], Result]]) -> list[Result]:
        return [jobs[0]()] if len(jobs) == 1 else self.workers.map(jobs)


class AsHashed(PairKernel):
    """The kernel over given hash directions and uniform offsets: products of triangles, averaged in the C core.

    Parameters
    ----------
    directions : array of shape (n_rows, n_concat, p), n_rows a multiple of 16
    unit : what coordinates are multiplied by at bandwidth 1 (``family.unit_scale`` there)
    """

    def __init__(self, directions: np.ndarray, unit: float) -> None:
        n_rows, n_concat, _ = directions.shape
        self._shape = (-1, n_rows // KERNEL_LANES, n_concat, KERNEL_LANES)
        self._matrix = direction_matrix(directions, unit)

    def embed(self, coordinates: np.ndarray) -> np.ndarray:
        """Positions along all directions as the C core reads them, (blocks, n, K, 16)."""
        return block_first((coordinates @ self._matrix).reshape(self._shape))

    def embed_gradient(self, coordinates: np.ndarray, grad: np.ndarray) -> np.ndarray:
        """The gradient by coordinates (n, p) from that by positions."""
        return grad.transpose(1, 0, 2, 3).reshape(len(coordinates), -1) @ self._matrix.T

    def values(self, own: np.ndarray, to: np.ndarray) -> tuple[np.ndarray, Gradient]:
        """The mean over rows of the product over codes of max(0, 1 - |gap|)."""
        native = require_native()
        kernel = np.empty((own.shape[1], to.shape[1]), np.float32)
        native.kernel_forward(own, to, kernel)

        def gradient(grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            grad_own, grad_to = np.empty_like(own), np.empty_like(to)
            native.kernel_backward(own, to, np.ascontiguousarray(grad, np.float32), grad_own, grad_to)
            return grad_own, grad_to

        return kernel, gradient


class _ClosedForm(PairKernel):
    """The K-th power of a textbook kernel."""

    def __init__(self, n_concat: int = 1) -> None:
        self.n_concat = n_concat

    def _power(self, kernel: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The K-th power of a kernel, and its slope by what ``slope`` is the kernel's slope by."""
        if self.n_concat == 1:
            return kernel, slope
        power = kernel ** (self.n_concat - 1)
        slope *= power
        slope *= self.n_concat
        return kernel * power, slope


class L2ClosedForm(_ClosedForm):
    """Collision probability of Gaussian directions.

    With u = 1 / distance: k = erf(u / sqrt 2) - sqrt(2 / pi) (1 - exp(-u**2 / 2)) / u, and the slope
    by the squared distance is -sqrt(2 / pi) (1 - exp(-u**2 / 2)) u / 2.
    """

    def values(self, own: np.ndarray, to: np.ndarray) -> tuple[np.ndarray, Gradient]:
        """Kernel values, from squared distances by a matrix product."""
        erf = require("scipy.special", "train").erf
        squared = own @ to.T
        squared *= -2.0
        squared += (own * own).sum(axis=1)[:, None]
        squared += (to * to).sum(axis=1)
        np.maximum(squared, _LEAST_SQUARE, out=squared)
        u = np.sqrt(squared, out=squared)
        np.reciprocal(u, out=u)
        drop = u * u
        drop *= -0.5
        np.expm1(drop, out=drop)
        drop *= sqrt(2.0 / pi)
        kernel = u * sqrt(0.5)
        erf(kernel, out=kernel)
        kernel += drop / u
        drop *= u
        drop *= 0.5
        kernel, slope = self._power(kernel, drop)

        def gradient(grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            by_square = grad * slope
            by_square *= 2.0
            return (
                own * by_square.sum(axis=1)[:, None] - by_square @ to,
                to * by_square.sum(axis=0)[:, None] - by_square.T @ own,
            )

        return kernel, gradient


class L1ClosedForm(_ClosedForm):
    """The Laplacian kernel: k = exp(-|z - x|_1)."""

    def values(self, own: np.ndarray, to: np.ndarray) -> tuple[np.ndarray, Gradient]:
        """Kernel values; coordinates one after the other, in one array that stays in the cache."""
        distance, gap = (np.zeros((len(own), len(to)), own.dtype) for _ in range(2))
        for a, b in zip(*map(_by_coordinate, (own, to)), strict=True):
            np.subtract(a[:, None], b, out=gap)
            distance += np.abs(gap, out=gap)
        distance *= -self.n_concat
        kernel = np.exp(distance, out=distance)

        def gradient(grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            by_distance = grad * kernel
            by_distance *= -self.n_concat
            grad_own, grad_to = np.empty_like(own), np.empty_like(to)
            queries, points = (_by_coordinate(side * own.dtype.type(_STEEP)) for side in (own, to))
            every_query, every_point = (np.ones(n, own.dtype) for n in gap.shape)
            for j, (a, b) in enumerate(zip(queries, points, strict=True)):
                np.subtract(a[:, None], b, out=gap)
                sign = np.clip(gap, -1.0, 1.0, out=gap)  # a third of the time of np.sign
                sign *= by_distance
                grad_own[:, j], grad_to[:, j] = sign @ every_point, -(every_query @ sign)
            return grad_own, grad_to

        return kernel, gradient


def _by_coordinate(points: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(points.T)


class AngularClosedForm(_ClosedForm):
    """k = 1 - angle / pi; the angle has no scale."""

    def embed(self, coordinates: np.ndarray) -> np.ndarray:
        """Points on the unit sphere; the origin stays where it is."""
        return coordinates / _lengths(coordinates)

    def embed_gradient(self, coordinates: np.ndarray, grad: np.ndarray) -> np.ndarray:
        """The gradient along the sphere."""
        lengths = _lengths(coordinates)
        unit = coordinates / lengths
        return (grad - unit * (grad * unit).sum(axis=1, keepdims=True)) / lengths

    def values(self, own: np.ndarray, to: np.ndarray) -> tuple[np.ndarray, Gradient]:
        """Kernel values from cosines, clipped a little inside of 1 and -1."""
        cosine = own @ to.T
        np.clip(cosine, -_LARGEST_COSINE, _LARGEST_COSINE, out=cosine)
        slope = cosine * cosine
        np.subtract(1.0, slope, out=slope)
        np.sqrt(slope, out=slope)
        np.divide(1.0 / pi, slope, out=slope)
        kernel = np.arccos(cosine, out=cosine)
        kernel *= -1.0 / pi
        kernel += 1.0
        kernel, slope = self._power(kernel, slope)

        def gradient(grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            by_cosine = grad * slope
            return by_cosine @ to, by_cosine.T @ own

        return kernel, gradient


def _lengths(coordinates: np.ndarray) -> np.ndarray:
    """Lengths (n, 1) of rows, at least the smallest that can be divided by."""
    return np.maximum(np.sqrt((coordinates * coordinates).sum(axis=1, keepdims=True)), 1e-12)


class Jaccard(_ClosedForm):
    """Jaccard similarity of the non-zero coordinates; sets are not moved, so there is no gradient."""

    def embed(self, coordinates: np.ndarray) -> np.ndarray:
        """1 for the members of each set, 0 elsewhere."""
        return (coordinates != 0).astype(coordinates.dtype)

    def values(self, own: np.ndarray, to: np.ndarray) -> tuple[np.ndarray, Gradient]:
        """Kernel values; two empty sets are alike."""
        shared = own @ to.T
        union = own.sum(axis=1)[:, None] + to.sum(axis=1) - shared
        kernel = np.where(union == 0, 1, shared / np.maximum(union, 1)).astype(own.dtype) ** self.n_concat

        def gradient(grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros_like(own), np.zeros_like(to)

        return kernel, gradient


CLOSED_FORMS: dict[str, type[_ClosedForm]] = {
    "l2": L2ClosedForm,
    "l1": L1ClosedForm,
    "angular": AngularClosedForm,
    "minhash": Jaccard,
}
