"""What each choice is worth at the paper's sizes: kernel, directions, aggregate, calibration, refit, K and R."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ... import lsh
from .case import PaperCase
from .stages import distill_kernel, paper_sketch


def ablation_job(case: PaperCase) -> dict[str, Any]:
    """Test scores by choice; every line differs from "closed form, mean" in what it says."""
    X, _ = case.train
    targets = case.labels.values
    found = {}
    for name, sketch in _sketches(case):
        found[name] = {
            "score": case.test_score(sketch.outputs),
            "calibrated": case.test_score(sketch.calibrate(X, targets).outputs),
            "refitted": case.test_score(sketch.refit(X, targets, progress=False).outputs),
        }
    return found


def _sketches(case: PaperCase) -> Iterator[tuple[str, Any]]:
    sizes = case.settings.sizes
    closed = distill_kernel(case, kernel="closed_form", n_points=256)
    n_buckets = 2**sizes.n_concat
    yield "closed form, mean", paper_sketch(case, closed, fold="universal")
    yield "median of means", paper_sketch(case, closed, fold="universal", aggregate="median_of_means")
    yield "not debiased", paper_sketch(case, closed, fold="universal", debias=False)
    yield "four times the buckets", paper_sketch(case, closed, fold="universal", n_buckets=4 * n_buckets)
    yield "four times the rows", paper_sketch(case, closed, fold="universal", n_rows=4 * sizes.n_rows)
    if case.job.is_quick:
        return
    if sizes.n_concat == 1:  # averaging K codes over all directions takes minutes for K = 3
        yield (
            "kernel as hashed",
            paper_sketch(case, distill_kernel(case, kernel="as_hashed", n_points=256), fold="universal"),
        )
    # The same kernel: its closed form is that of Gaussian directions.
    assert isinstance(closed.family, lsh.L2)
    gaussian = replace(closed, family=replace(closed.family, directions="gaussian"))
    yield "Gaussian directions", paper_sketch(case, gaussian, fold="universal")
    other = 1 if sizes.n_concat > 1 else 2
    changed = distill_kernel(case, kernel="closed_form", n_points=256, n_concat=other)
    yield f"K = {other}, the same numbers", paper_sketch(case, changed, fold="universal")
