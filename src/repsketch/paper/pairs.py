"""Kernel values of all (query, point) pairs, with gradients, for training in torch.

The L2 kernel is computed in two ways: by its closed form, or *as hashed*, averaged over the directions that the
sketch will use (erratum 3), which runs in the C core. Angular and L1 have closed forms. MinHash compares sets; its
points are not trained.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import pi, sqrt

import numpy as np
import torch
from torch import Tensor

from ..core import KERNEL_LANES, require_native
from .kernel_model import block_first, direction_matrix

_CHUNK = 128  # queries a task; fixed, so that results do not depend on the number of threads


class _AsHashed(torch.autograd.Function):
    """(n, m) kernel of positions u (n, blocks, K, 16) and v (m, blocks, K, 16) along the hash directions."""

    @staticmethod
    def forward(ctx, u: Tensor, v: Tensor, pool: ThreadPoolExecutor) -> Tensor:
        queries = u.detach().numpy()
        chunks = [block_first(queries[start : start + _CHUNK]) for start in range(0, len(u), _CHUNK)]
        points = block_first(v.detach().numpy())
        kernel = np.empty((len(u), len(v)), np.float32)

        kernel_forward = require_native().kernel_forward

        def fill(index: int) -> None:
            kernel_forward(chunks[index], points, kernel[index * _CHUNK : (index + 1) * _CHUNK])

        list(pool.map(fill, range(len(chunks))))
        ctx.chunks, ctx.points, ctx.pool = chunks, points, pool
        return torch.from_numpy(kernel)

    @staticmethod
    def backward(ctx, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        grad = grads[0].contiguous().numpy()
        kernel_backward = require_native().kernel_backward

        def differentiate(index: int) -> tuple[np.ndarray, np.ndarray]:
            grad_u, grad_v = np.empty_like(ctx.chunks[index]), np.empty_like(ctx.points)
            chunk_grad = grad[index * _CHUNK : (index + 1) * _CHUNK]
            kernel_backward(ctx.chunks[index], ctx.points, chunk_grad, grad_u, grad_v)
            return grad_u, grad_v

        pairs = list(ctx.pool.map(differentiate, range(len(ctx.chunks))))
        grad_u = np.concatenate([pair[0] for pair in pairs], axis=1)
        grad_v = pairs[0][1]
        for pair in pairs[1:]:
            grad_v += pair[1]
        return _point_first(grad_u), _point_first(grad_v), None


def _point_first(positions: np.ndarray) -> Tensor:
    return torch.from_numpy(positions.transpose(1, 0, 2, 3))


class AsHashed:
    """The kernel over given hash directions and uniform offsets, as a function of z, points and width.

    Parameters
    ----------
    directions : array of shape (n_rows, n_concat, p), n_rows a multiple of 16
    unit : what coordinates are multiplied by at bandwidth 1 (``family.unit_scale`` there)
    """

    def __init__(self, directions: np.ndarray, unit: float):
        n_rows, n_concat, _ = directions.shape
        self._shape = (n_rows // KERNEL_LANES, n_concat, KERNEL_LANES)
        self._matrix = torch.from_numpy(direction_matrix(directions, unit))
        self._pool = ThreadPoolExecutor(max(1, torch.get_num_threads()))

    def __call__(self, z: Tensor, points: Tensor, bandwidth: Tensor) -> Tensor:
        """Kernel values (n, m) of z (n, p) and points (m, p)."""
        matrix = self._matrix / bandwidth
        u, v = ((side @ matrix).view(-1, *self._shape) for side in (z, points))
        return _AsHashed.apply(u, v, self._pool)


class _Closed(torch.autograd.Function):
    """The K-th power of a kernel given as a function of one number a pair; value and slope in one pass."""

    @staticmethod
    def forward(ctx, argument: Tensor, evaluate: Callable[[Tensor], tuple[Tensor, Tensor]], n_concat: int) -> Tensor:
        kernel, slope = evaluate(argument)
        if n_concat > 1:
            power = kernel ** (n_concat - 1)
            kernel = kernel * power
            slope = slope.mul_(power).mul_(n_concat)
        ctx.save_for_backward(slope)
        return kernel

    @staticmethod
    def backward(ctx, *grads: Tensor) -> tuple[Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        return grads[0] * slope, None, None


def _l2_of_squares(squared: Tensor) -> tuple[Tensor, Tensor]:
    """k(c) and its slope of squared distances c**2 in units of r**2.

    With u = 1 / c: dk/dc = -sqrt(2 / pi) (1 - exp(-u**2 / 2)), so dk/d(c**2) = that * u / 2.
    """
    u = squared.clamp_min(1e-12).rsqrt_()
    drop = torch.expm1(torch.mul(u, u).mul_(-0.5)).mul_(sqrt(2.0 / pi))
    kernel = torch.erf(u * sqrt(0.5)).add_(drop / u)
    return kernel, drop.mul_(u).mul_(0.5)


def _angular_of_cosines(cosine: Tensor) -> tuple[Tensor, Tensor]:
    """1 - angle / pi and its slope of cosines."""
    cosine = cosine.clamp(-1 + 1e-6, 1 - 1e-6)
    slope = torch.mul(cosine, cosine).neg_().add_(1.0).rsqrt_().mul_(1.0 / pi)
    return torch.arccos(cosine).mul_(-1.0 / pi).add_(1.0), slope


def l2_closed_form(z: Tensor, points: Tensor, bandwidth: Tensor, n_concat: int = 1) -> Tensor:
    """K-th power of the L2 kernel with Gaussian directions for all pairs, (n, m)."""
    z, points = z / bandwidth, points / bandwidth
    squared = torch.addmm(z.square().sum(1, keepdim=True) + points.square().sum(1), z, points.T, alpha=-2.0)
    return _Closed.apply(squared, _l2_of_squares, n_concat)


def l1_closed_form(z: Tensor, points: Tensor, bandwidth: Tensor, n_concat: int = 1) -> Tensor:
    """K-th power of the Laplacian kernel exp(-|z - x|_1 / r) for all pairs, (n, m)."""
    return torch.exp(torch.cdist(z, points, p=1.0) * (-n_concat / bandwidth))


def angular_closed_form(z: Tensor, points: Tensor, bandwidth: Tensor, n_concat: int = 1) -> Tensor:
    """K-th power of 1 - angle / pi for all pairs, (n, m); the angle has no scale: ``bandwidth`` is not used."""
    cosine = torch.nn.functional.normalize(z) @ torch.nn.functional.normalize(points).T
    return _Closed.apply(cosine, _angular_of_cosines, n_concat)


def jaccard(z: Tensor, points: Tensor, bandwidth: Tensor, n_concat: int = 1) -> Tensor:
    """K-th power of the Jaccard similarity of the non-zero coordinates for all pairs, (n, m); no gradient."""
    a, b = (z != 0).float(), (points != 0).float()
    shared = a @ b.T
    union = a.sum(1, keepdim=True) + b.sum(1) - shared
    return torch.where(union == 0, 1.0, shared / union.clamp_min(1.0)) ** n_concat


CLOSED_FORMS: dict[str, Callable[[Tensor, Tensor, Tensor, int], Tensor]] = {
    "l2": l2_closed_form,
    "l1": l1_closed_form,
    "angular": angular_closed_form,
    "minhash": jaccard,
}
