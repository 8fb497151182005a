"""NumPy and the C core reproduce docs/spec/vectors.json, which tools/write_vectors.py wrote."""

import json
from pathlib import Path

import numpy as np
import pytest

from repsketch import _native, lsh
from repsketch.lsh.directions import draw_directions
from repsketch.lsh.fold import draw_multipliers, fold_universal
from repsketch.lsh.generator import to_gaussian, words

PATH = Path(__file__).parents[3] / "docs" / "spec" / "vectors.json"
VECTORS = json.loads(PATH.read_text())


def _each(table):
    return pytest.mark.parametrize("vector", VECTORS[table], ids=range(len(VECTORS[table])))


def _uint32(digits):
    """Words from hexadecimal digits, one or a list."""
    return np.array([int(item, 16) for item in ([digits] if isinstance(digits, str) else digits)], np.uint32)


def _bits(values):
    return np.atleast_1d(values).astype(np.float32, casting="no").view(np.uint32)


def _place(vector):
    return vector["seed"], vector["row"], vector["code"]


def test_tables_are_complete():
    """An empty table would pass every test below."""
    expected = {"words": 15, "ternary": 3, "gaussian": 3, "quantile": 9, "l2_offset": 3, "l1_grid": 3, "fold": 6}
    assert {name: len(rows) for name, rows in VECTORS.items()} == expected
    assert PATH.stat().st_size < 8192


@_each("words")
def test_words(vector):
    seed, row, code = _place(vector)
    stream, index = vector["stream"], vector["index"]
    expected = int(vector["word"], 16)
    assert words(seed, stream, row + 1, code + 1, index + 1)[row, code, index] == expected
    assert _native.word(seed, stream, row, code, index) == expected


@_each("ternary")
def test_ternary(vector):
    seed, row, code = _place(vector)
    shape = row + 1, code + 1, len(vector["directions"])
    native = np.empty(shape, np.int8)
    _native.draw_ternary(seed, native)
    for drawn in (draw_directions("ternary", seed, *shape), native):
        assert drawn[row, code].tolist() == vector["directions"]


@_each("gaussian")
def test_gaussian(vector):
    seed, row, code = _place(vector)
    drawn = draw_directions("gaussian", seed, row + 1, code + 1, len(vector["bits"]))[row, code]
    np.testing.assert_array_equal(_bits(drawn), _uint32(vector["bits"]))


@_each("quantile")
def test_quantile(vector):
    np.testing.assert_array_equal(_bits(to_gaussian(_uint32(vector["word"]))), _uint32(vector["bits"]))


@_each("l2_offset")
def test_l2_offset(vector):
    seed, row, code = _place(vector)
    drawn = lsh.L2().sample(2, row + 1, code + 1, seed).parameters["offsets"][row, code]
    np.testing.assert_array_equal(_bits(drawn), _uint32(vector["bits"]))


@_each("l1_grid")
def test_l1_grid(vector):
    seed, row, code = _place(vector)
    drawn = lsh.L1().sample(4, row + 1, code + 1, seed).parameters
    for name in ("inverse_pitches", "offsets"):
        np.testing.assert_array_equal(_bits(drawn[name][row, code]), _uint32(vector[name]))
    assert drawn["addends"][row, code] == int(vector["addend"], 16)
    np.testing.assert_array_equal(drawn["multipliers"][row, code], _uint32(vector["multipliers"]))


@_each("fold")
def test_fold(vector):
    seed, row, n_buckets = vector["seed"], vector["row"], vector["n_buckets"]
    codes = np.array([vector["codes"]], np.int32)
    addends, multipliers = draw_multipliers(seed, row + 1, codes.shape[1])
    native = np.empty(1, np.int64)
    _native.fold(seed, row, codes, n_buckets, native)
    for drawn in (fold_universal(codes.T, addends[row], multipliers[row], n_buckets), native):
        assert drawn.tolist() == [vector["bucket"]]
