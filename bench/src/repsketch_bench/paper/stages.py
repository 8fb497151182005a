"""The paper's own stages for one dataset and seed: network, kernel, sketch; and what was added to them."""

from math import ceil
from typing import Any

import numpy as np

from repsketch.lsh import Angular
from repsketch.lsh.fold import fold_collision_rate
from repsketch.paper import KernelModel
from repsketch.paper.distill import distill
from repsketch.sketch import Sketch, build_sketch
from repsketch.theory.bounds import error_bound, median_of_means_groups

from .accounting import count_network
from .case import PaperCase
from .settings import DISTILL, QUICK_STEPS, STEPS

DELTA = 0.05  # of Theorem 2, in the plot of convergence
N_BUCKETS, N_QUERIES = 64, 500

#: The paper does not say which hash it used. Its 2^K buckets for K codes are those of sign bits; the kernel that its
#: theory is about is the Euclidean one, whose codes have to be hashed into so few buckets. Both, and a linear term.
SIGN_BITS = Angular(directions="ternary")
VARIANTS: dict[str, dict[str, Any]] = {
    "Euclidean": {},
    "sign bits": {"family": SIGN_BITS},
    "linear term": {"linear": True},
}


def teacher_job(case: PaperCase) -> dict[str, Any]:
    """Test score and size of the network."""
    n_numbers, flops = count_network(case.network)
    return {
        "score": case.test_score(lambda X: case.outputs(case.network, X)),
        "n_numbers": n_numbers,
        "flops": flops,
        "nbytes": {"float32": 4 * n_numbers, "int8": n_numbers},
    }


def stages_job(case: PaperCase) -> dict[str, Any]:
    """Kernels and sketches of the paper's sizes: as in the paper, calibrated, refitted, in int8."""
    return {name: _stages(case, **changes) for name, changes in VARIANTS.items()}


def grouped_job(case: PaperCase) -> dict[str, Any]:
    """The same on a split that keeps equal rows together: what is left when no test row was seen in training."""
    found = {name: _stages(case, **VARIANTS[name]) for name in ("Euclidean", "sign bits")}
    return {"teacher": {"score": case.test_score(lambda X: case.outputs(case.network, X))}, **found}


def _stages(case: PaperCase, **changes: Any) -> dict[str, Any]:
    kernel = distill_kernel(case, **changes)
    sketch = paper_sketch(case, kernel)
    X, _ = case.some
    wanted = case.labels.values[: len(X)]
    refits = [sketch.refit(X, targets, progress=False) for targets in (wanted, case.mixture)]
    refitted = max(refits, key=case.valid_score)
    made = {
        "kernel": kernel,
        "sketch": sketch,
        "calibrated": sketch.calibrate(X, wanted),
        "refitted": refitted,
        "int8": refitted.quantize(X),
    }
    return {
        name: {"score": case.test_score(model.outputs), "validation": case.valid_score(model)} | _size(model)
        for name, model in made.items()
    }


def distill_kernel(case: PaperCase, **changes: Any) -> KernelModel:
    """The kernel model of the paper's sizes, with other options where ``changes`` says so."""
    settings, sizes = case.settings, case.settings.sizes
    shape = {"n_components": sizes.n_components, "n_concat": sizes.n_concat}
    options: dict[str, Any] = shape | settings.distill | changes
    n_steps = settings.n_steps
    if not shape.items() <= options.items():  # other shapes are trained the same way on all datasets
        options, n_steps = options | DISTILL | changes, STEPS
    if case.job.is_quick:
        n_steps = QUICK_STEPS
    n_epochs = max(2, min(200, ceil(n_steps * DISTILL["batch_size"] / len(case.train[0]))))
    fixed = {"n_directions": sizes.n_rows, "n_epochs": n_epochs, "random_state": case.job.seed, "progress": False}
    return distill(case.labels, case.train[0], **(fixed | options))


def paper_sketch(case: PaperCase, kernel: KernelModel, **changes: Any) -> Any:
    """The sketch of the paper's sizes: L rows of 2^K buckets."""
    sizes = case.settings.sizes
    options = {"n_rows": sizes.n_rows, "n_buckets": 2**sizes.n_concat, "random_state": case.job.seed, "progress": False}
    return build_sketch(kernel, **(options | changes))


def _size(model: Any) -> dict[str, Any]:
    if not isinstance(model, Sketch):
        return {"n_numbers": model.n_parameters}
    cost = model.cost()
    return {
        "n_numbers": cost.parameters,
        "flops": cost.paper_flops,
        "nbytes": model.nbytes,
        "file_nbytes": len(model.to_bytes()),
    }


def convergence_job(case: PaperCase) -> dict[str, Any]:
    """How far medians of means over L rows are from their kernel, beside Theorem 2's bound (erratum 1).

    Errors are in standard deviations of the kernel's outputs, so that datasets can share a plot.
    """
    kernel = distill_kernel(case)
    X = case.test[0][:N_QUERIES]
    wanted = kernel.outputs(X)[:, 0]
    unit = float(wanted.std()) or 1.0
    values, weights = np.clip(kernel.kernel_matrix(X), 0.0, 1.0), kernel.weights[:, 0]
    n_groups, points = median_of_means_groups(DELTA), []
    for n_rows in (n_groups * 2**power for power in range(8)):
        options = {"n_rows": n_rows, "n_buckets": N_BUCKETS, "aggregate": "median_of_means", "n_groups": n_groups}
        sketch = paper_sketch(case, kernel, fold="universal", **options)
        error = np.abs(sketch.outputs(X)[:, 0] - wanted)
        bound = error_bound(weights, values, n_rows, DELTA, fold_collision_rate(N_BUCKETS))
        points.append(
            {
                "n_rows": n_rows,
                "mean": float(error.mean()) / unit,
                "quantile": float(np.quantile(error, 1.0 - DELTA)) / unit,
                "bound": float(bound.mean()) / unit,
                "within": float((error <= bound).mean()),
            }
        )
    return {"delta": DELTA, "n_buckets": N_BUCKETS, "points": points}
