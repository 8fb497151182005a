"""Log-odds of exactly 0: one row and a table of rows agree on the first class."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch import Sketch, lsh


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_tie_is_the_first_class(n_outputs):
    classes = np.array(["ay", "no"] if n_outputs == 1 else ["ay", "no", "so"])
    blank = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=8, n_features=2, n_outputs=n_outputs)
    sketch = replace(blank, task="classification", classes=classes)
    row = np.zeros(2, np.float32)
    assert sketch.decision_function(row[None]).ravel().tolist() == [0.0] * n_outputs
    assert (sketch.predict(row[None])[0], sketch.predict_one(row)) == ("ay", "ay")
