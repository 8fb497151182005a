"""Indices of sparse matrices: 64 bits stay 64 bits."""

import numpy as np
import pytest
import scipy.sparse as sp

import repsketch as rs
from repsketch.errors import InputError


@pytest.mark.parametrize(("field", "message"), [("indices", "column index 4294967298"), ("indptr", "indptr ends at")])
def test_indices_beyond_32_bits_are_not_cut(field, message):
    """Matrices of more than 2**31 entries have 64-bit indices; 2**32 + 2 is not 2."""
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=8, n_features=3).add(np.eye(3))
    X = sp.csr_matrix(np.eye(3, dtype=np.float32))
    wanted = density.outputs(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_array_equal(density.outputs(X), wanted)
    getattr(X, field)[-1] += 2**32
    with pytest.raises(InputError, match=message):
        density.outputs(X)
