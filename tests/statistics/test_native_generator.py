"""The C core draws the same words, directions and buckets as NumPy, bit for bit."""

import numpy as np
import pytest

from repsketch import _native
from repsketch.lsh.directions import draw_directions
from repsketch.lsh.fold import draw_multipliers, fold_universal
from repsketch.lsh.generator import MAX_CONCAT, MAX_FEATURES, MAX_ROWS, Stream, threefry, words

SEEDS = [0, 1, 2, 12_345, 2**31 - 1, 2**31, 2**32 - 1]


@pytest.mark.parametrize("stream", list(Stream))
def test_words(stream):
    for seed in SEEDS:
        expected = words(seed, stream, 5, 3, 9)
        drawn = [_native.word(seed, stream, *place) for place in np.ndindex(expected.shape)]
        np.testing.assert_array_equal(drawn, expected.ravel(), f"seed {seed}")


def test_words_at_the_limits():
    """The largest row, code and index that a sketch may use."""
    rows, codes, indices = (0, 1, MAX_ROWS - 1), (0, 1, MAX_CONCAT - 1), (0, 1, 2 * MAX_FEATURES - 1)
    for row, code, index in ((r, c, i) for r in rows for c in codes for i in indices):
        pair = threefry((7, Stream.PITCH), (row, (code << 20) + index // 2))
        assert _native.word(7, Stream.PITCH, row, code, index) == int(pair[index % 2])


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (3, 2, 7), (4, 1, 8), (2, 3, 9), (2, 2, 15), (3, 1, 16), (2, 1, 17), (5, 4, 333)]
)
def test_ternary_directions(shape):
    for seed in SEEDS:
        drawn = np.full(shape, 9, np.int8)
        _native.draw_ternary(seed, drawn)
        np.testing.assert_array_equal(drawn, draw_directions("ternary", seed, *shape), f"seed {seed}")


@pytest.mark.parametrize("n_concat", [1, 2, 5, 40])
@pytest.mark.parametrize("n_buckets", [2, 3, 7, 16, 1000, 65_535, 65_536])
def test_fold(n_concat, n_buckets):
    random = np.random.default_rng([n_concat, n_buckets])
    codes = random.integers(-(2**15), 2**15, size=(60, n_concat), dtype=np.int32)
    codes[:3] = np.array([[0], [-(2**15)], [2**15 - 1]])
    for seed in [*SEEDS, *range(100, 130)]:
        addends, multipliers = draw_multipliers(seed, 4, n_concat)
        for row in range(4):
            buckets = np.full(len(codes), -1, np.int64)
            _native.fold(seed, row, codes, n_buckets, buckets)
            expected = fold_universal(codes.T, addends[row], multipliers[row], n_buckets)
            np.testing.assert_array_equal(buckets, expected)
