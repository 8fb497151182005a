"""Which columns of a frame have labels: categories alone, not booleans."""

import numpy as np
import pandas

from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model import Model
from repsketch.model.inputs import Inputs
from repsketch.model.rows import RowGroup
from repsketch.sketch import CompiledSketch


def test_booleans_have_no_labels():
    inputs = Inputs(3, columns=np.array([0, 2]), kinds=np.array([1, 3]), limits=(0, 1))
    pool = CodePool("sparse", 4, 4, n_axes=4, n_nonzeros=1, is_seeded=True, bias_scale=1, width_bits=0,
                    booleans=inputs.booleans)  # fmt: skip
    rows = PooledRows(pool, 2, 1, np.array([[0], [2]]))
    counters = np.array([[[0], [1]], [[0], [10]]], np.int8)
    group = RowGroup(rows, counters, np.ones(1, np.float32), "int8", aggregate="sum")
    names, labels = ("member", "zip", "job"), ("baker", "guard", "smith")
    model = Model(inputs, None, (group,), np.zeros(1, np.float32), feature_names=names, categories=(labels,))
    sketch = CompiledSketch(model)
    assert (sketch.columns.categories, sketch.columns.used) == ({2: labels}, {0, 2})
    frame = pandas.DataFrame({"job": ["guard", "smith", "guard"], "member": [True, True, False]})
    assert sketch.predict(frame.assign(zip=0)).tolist() == [11.0, 1.0, 10.0]
