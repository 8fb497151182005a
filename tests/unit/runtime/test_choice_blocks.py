"""Tables that are read in several blocks, each at its place: the limit of a block lowered."""

import numpy as np
import pytest
import scipy.sparse as sp

from repsketch import Sketch, lsh
from repsketch.data import arrays
from repsketch.errors import InputError
from repsketch.runtime.native import NativeRuntime
from repsketch.runtime.reference import ReferenceRuntime

X = np.random.default_rng(0).normal(size=(50, 3))
MODEL = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=8, n_features=3).add(X, progress=False).model


@pytest.mark.parametrize(
    "convert", [np.float64, np.asfortranarray, sp.csr_matrix], ids=["float64", "columns", "sparse"]
)
@pytest.mark.parametrize("kind", [NativeRuntime, ReferenceRuntime])
@pytest.mark.parametrize("block_rows", [1, 7, 49, 50, 51])
def test_blocks_are_read_in_order(kind, convert, block_rows, monkeypatch):
    table, runtime = convert(X), kind(MODEL)
    wanted = runtime.outputs(X.astype(np.float32))
    monkeypatch.setattr(arrays, "_BLOCK_VALUES", 3 * block_rows)
    np.testing.assert_array_equal(runtime.outputs(table), wanted)


@pytest.mark.parametrize("kind", [NativeRuntime, ReferenceRuntime])
def test_a_bad_value_is_named_by_its_row_in_the_table(kind, monkeypatch):
    bad = X.copy()
    bad[31, 2] = np.nan
    monkeypatch.setattr(arrays, "_BLOCK_VALUES", 3 * 10)
    with pytest.raises(InputError, match="NaN at row 31, column 2"):
        kind(MODEL).outputs(bad)
