"""Sketches that cannot be added up: other hash functions, other units, refitted counters."""

import numpy as np
import pytest

from repsketch import Sketch, build_sketch, lsh
from repsketch.errors import MergeError
from support.spoiled import D, N, built, check, empty, good_table, good_targets, kernel_model


def full(**options) -> Sketch:
    return empty(**options).add(good_table(), np.ones((N, options.get("n_outputs", 1))))


OTHERS = {
    "seed": (lambda: full(random_state=1), "other hash functions"),
    "rows": (lambda: full(n_rows=6), "other hash functions"),
    "buckets": (lambda: full(n_buckets=8), "other hash functions"),
    "codes": (lambda: full(n_concat=2), "other hash functions"),
    "bandwidth": (lambda: full(family=lsh.L2(bandwidth=2.0)), "other hash functions"),
    "directions": (lambda: full(family=lsh.L2(1.0, "gaussian")), "other hash functions"),
    "family": (lambda: full(family=lsh.L1(1.0)), "other hash functions"),
    "fold": (lambda: full(fold="direct"), "other hash functions"),
    "step": (lambda: full(weight_step=2.0**-20), "other weight_step"),
    "outputs": (lambda: full(n_outputs=2), "other .*number of outputs"),
    "calibrated": (lambda: full().calibrate(good_table(), good_targets()), "other .*output.scale"),
    "refitted": (lambda: full().refit(good_table(), good_targets()), "refitted sketch cannot be merged"),
    # A reader's choice, but of the two sketches only one can have it.
    "debias": (lambda: full(debias=False), "other .*debias"),
    "groups": (lambda: full(aggregate="median_of_means", n_groups=3), "other .*(aggregate|n_groups)"),
}


@pytest.mark.parametrize(("other", "words"), OTHERS.values(), ids=OTHERS)
def test_merge_of_another(other, words):
    check(lambda: full().merge(other()), MergeError, words)
    check(lambda: other().merge(full()), MergeError, words)


@pytest.mark.parametrize("other", [5, None, "sketch"])
def test_merge_of_something_else(other):
    check(lambda: full().merge(other), MergeError, f"{type(other).__name__}.*Sketch")


def test_merge_of_models_with_other_projections():
    others = {
        "projection": kernel_model(projection=np.ones((D, 2), np.float32)),
        "task": kernel_model(task="regression"),
    }
    for name, other in others.items():
        sketch = build_sketch(other, n_rows=5, n_buckets=4)
        check(lambda sketch=sketch: built().merge(sketch), MergeError, f"other .*{name}.*; only sketches of one model")


@pytest.mark.parametrize(
    ("change", "verb"),
    [
        (lambda sketch: sketch.add(np.ones((1, 2))), "added to"),
        (lambda sketch: sketch.subtract(np.ones((1, 2))), "added to|subtracted from"),
        (lambda sketch: sketch.merge(built()), "merged"),
        (lambda sketch: sketch.scale(0.5), "scaled"),
    ],
    ids=["add", "subtract", "merge", "scale"],
)
def test_a_refitted_sketch_is_no_sum(change, verb):
    refitted = built().refit(good_table(), good_targets())
    check(lambda: change(refitted), MergeError, f"refitted sketch cannot be ({verb}).*no longer sums")
