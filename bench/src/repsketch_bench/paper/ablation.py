"""What each choice is worth at the paper's sizes: kernel, directions, aggregate, calibration, refit, K and R."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from repsketch import lsh

from .case import PaperCase
from .stages import SIGN_BITS, distill_kernel, paper_sketch

REFIT_ROWS = 8_000  # enough to compare by, and a refit of 4,000 counters takes seconds
MOST_COUNTERS = 4_096  # larger sketches are not refitted here


def ablation_job(case: PaperCase) -> dict[str, Any]:
    """Test scores by choice; every line differs from "closed form, mean" in what it names."""
    X, wanted = case.train[0][:REFIT_ROWS], case.labels.values[:REFIT_ROWS]
    found = {}
    for name, sketch in _sketches(case):
        found[name] = {
            "score": case.test_score(sketch.outputs),
            "calibrated": case.test_score(sketch.calibrate(X, wanted).outputs),
        }
        if sketch.n_rows * sketch.n_buckets <= MOST_COUNTERS:
            found[name]["refitted"] = case.test_score(sketch.refit(X, wanted, progress=False).outputs)
    return found


def _sketches(case: PaperCase) -> Iterator[tuple[str, Any]]:
    sizes = case.settings.sizes
    closed = distill_kernel(case)
    n_buckets = 2**sizes.n_concat
    yield "Euclidean, closed form, mean", paper_sketch(case, closed)
    yield "median of means", paper_sketch(case, closed, aggregate="median_of_means")
    yield "not debiased", paper_sketch(case, closed, debias=False)
    yield "four times the buckets", paper_sketch(case, closed, n_buckets=4 * n_buckets)
    yield "four times the rows", paper_sketch(case, closed, n_rows=4 * sizes.n_rows)
    yield "norm hardly penalised", paper_sketch(case, distill_kernel(case, norm_penalty=1e-6))
    if case.job.is_quick:
        return
    if sizes.n_concat == 1:  # averaging K codes over all directions takes minutes for K = 3
        yield "kernel as hashed", paper_sketch(case, distill_kernel(case, kernel="as_hashed"))
    # The same kernel: its closed form is that of Gaussian directions.
    assert isinstance(closed.family, lsh.L2)
    gaussian = replace(closed, family=replace(closed.family, directions="gaussian"))
    yield "Gaussian directions", paper_sketch(case, gaussian)
    signs = distill_kernel(case, family=SIGN_BITS)
    yield "sign bits", paper_sketch(case, signs)
    yield "sign bits, Gaussian directions", paper_sketch(case, replace(signs, family=lsh.Angular()))
    other = 1 if sizes.n_concat > 1 else 2
    yield f"sign bits, K = {other}, as many numbers", _with_codes(case, other)


def _with_codes(case: PaperCase, n_concat: int) -> Any:
    """A sketch of sign bits with K codes a row and as many rows as the counters of the paper's sketch allow."""
    sizes = case.settings.sizes
    n_rows = sizes.n_rows * 2**sizes.n_concat // 2**n_concat
    kernel = distill_kernel(case, family=SIGN_BITS, n_concat=n_concat)
    return paper_sketch(case, kernel, n_rows=n_rows, n_buckets=2**n_concat)
