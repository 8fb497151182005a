"""What merging refuses, 61 to 67 of ``docs/spec/bad-files.md``: for sketches in memory and for saved ones alike.

Case 67, the same partition twice, is about sketches that carry ids of their partitions. Ours carry none, so there is
nothing to refuse: a sketch merged with itself is the sketch of its points, each twice (``tests/laws``).
"""

import re
from dataclasses import replace

import numpy as np
import pytest

import repsketch
from repsketch import Sketch, lsh
from repsketch.errors import MergeError
from repsketch.sketch import KernelSketch, from_bytes
from support.rsk.build import kernel_sketch

RNG = np.random.default_rng(0)
POINTS, TABLE = RNG.normal(size=(30, 3)), RNG.normal(size=(60, 4)).astype(np.float32)


def blank(**changes) -> KernelSketch:
    settings = {"family": lsh.L2(1.0), "n_rows": 6, "n_buckets": 16, "n_features": 3, "n_concat": 2, "n_outputs": 1}
    return Sketch.empty(**{**settings, "random_state": 3, "fold": "universal", **changes})


def saved_and_loaded(sketch: KernelSketch, folder) -> KernelSketch:
    path = folder / "sketch.rsk"
    sketch.save(path)
    return repsketch.load(path)


def permuted(array: np.ndarray | None) -> np.ndarray:
    assert array is not None
    return array[::-1].copy()


PAPER = kernel_sketch()
#: Two sketches, and what the refusal must name.
DIFFERENT = {
    "61 seed": (blank(), blank(random_state=4), "seed=3.*seed=4"),
    "62 rows": (blank(), blank(n_rows=7), "n_rows=6.*n_rows=7"),
    "62 buckets": (blank(), blank(n_buckets=25), "n_buckets=16.*n_buckets=25"),
    "62 features": (blank(), blank(n_features=4), "n_features=3.*n_features=4"),
    "62 codes a row": (blank(), blank(n_concat=1), "n_concat=2.*n_concat=1"),
    "62 outputs": (blank(), blank(n_outputs=2), "outputs"),
    "63 family": (blank(), blank(family=lsh.L1(1.0)), r"L2\(.*L1\("),
    "63 directions": (blank(), blank(family=lsh.L2(1.0, directions="gaussian")), "ternary.*gaussian"),
    "63 fold": (blank(), blank(fold="direct"), "fold='universal'.*fold='direct'"),
    "64 bandwidth": (blank(), blank(family=lsh.L2(2.0)), r"bandwidth=1\.0.*bandwidth=2\.0"),
    "64 weight_step": (blank(), blank(weight_step=2.0**-20), "weight_step"),
    "64 output_scale": (PAPER, replace(PAPER, output_scale=np.array([2.0])), "output_scale"),
    "64 output_bias": (PAPER, replace(PAPER, output_bias=np.array([2.0])), "output_bias"),
    "64 debias": (blank(), blank(debias=False), "debias"),
    "64 groups": (blank(), blank(aggregate="median_of_means", n_groups=3), "n_groups"),
    "64 task": (PAPER, replace(PAPER, task="regression", classes=None), "task"),
    "65 feature order": (PAPER, replace(PAPER, projection=permuted(PAPER.projection)), "projection"),
    "65 order of the coordinates": (PAPER, replace(PAPER, shift=permuted(PAPER.shift)), "shift"),
    "65 linear term": (PAPER, replace(PAPER, linear=permuted(PAPER.linear)), "linear"),
    "65 no projection": (PAPER, replace(PAPER, projection=None), "projection"),
    "65 class order": (PAPER, replace(PAPER, classes=permuted(PAPER.classes)), "classes"),
    "65 no classes": (PAPER, replace(PAPER, classes=None), "classes"),
}  # fmt: skip


@pytest.mark.parametrize("title", DIFFERENT)
def test_refused_and_the_difference_named(title, tmp_path):
    mine, theirs, words = DIFFERENT[title]
    for first, second in [(mine, theirs), (saved_and_loaded(mine, tmp_path), saved_and_loaded(theirs, tmp_path))]:
        with pytest.raises(MergeError, match=re.compile(words, re.DOTALL)):
            first.merge(second)
        with pytest.raises(MergeError):
            second.merge(first)


def heavy() -> KernelSketch:
    """511 points of the largest weight in one place: two more would reach 2**62 steps in one counter."""
    weight = (2.0**53 - 1) * 2.0**-32
    return blank().add(np.zeros((511, 3)), np.full(511, weight), progress=False)


@pytest.mark.parametrize("are_loaded", [False, True])
def test_66_a_result_that_would_overflow_is_refused_not_wrapped(are_loaded, tmp_path):
    one = saved_and_loaded(heavy(), tmp_path) if are_loaded else heavy()
    before = one.to_bytes()
    with pytest.raises(MergeError, match=r"would pass .* start from a larger weight_step"):
        one.merge(one)
    with pytest.raises(MergeError, match="weight_step"):
        one.add(np.zeros((2, 3)), np.full(2, (2.0**53 - 1) * 2.0**-32), progress=False)
    assert one.to_bytes() == before
    half = one.scale(0.5)
    assert np.array_equal(half.merge(half).counters, one.counters)  # the largest that fits does


@pytest.mark.parametrize("family", [lsh.L2(1.0), lsh.L1(0.5), lsh.Angular(), lsh.MinHash()], ids=lambda f: f.name)
def test_loaded_sketches_merge_like_the_ones_saved(family, tmp_path):
    empty = blank(family=family)
    one, other = empty.add(POINTS[:10], progress=False), empty.add(POINTS[10:], progress=False)
    merged = saved_and_loaded(one, tmp_path).merge(saved_and_loaded(other, tmp_path))
    assert merged.to_bytes() == one.merge(other).to_bytes() == empty.add(POINTS, progress=False).to_bytes()
    assert from_bytes(merged.to_bytes()).to_bytes() == merged.to_bytes()


def test_counters_that_are_no_sums_are_refused(tmp_path):
    fitted = PAPER.refit(TABLE, TABLE[:, 0], progress=False)
    for other in (fitted, saved_and_loaded(fitted, tmp_path)):
        with pytest.raises(MergeError, match="refitted"):
            PAPER.merge(other)
        with pytest.raises(MergeError, match="refitted"):
            other.merge(PAPER)
    quantized = PAPER.quantize(TABLE)
    for other in (quantized, saved_and_loaded(quantized, tmp_path)):
        with pytest.raises(MergeError, match="without its sums"):
            other.merge(PAPER)
    with pytest.raises(MergeError, match="int cannot be merged"):
        PAPER.merge(3)  # type: ignore[arg-type]


def test_a_quantised_sketch_cannot_be_merged_into_another():
    with pytest.raises(MergeError):
        PAPER.merge(PAPER.quantize(TABLE))  # type: ignore[arg-type]
