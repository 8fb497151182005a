"""What the summary scores against: the target where there is one, else the teacher."""

import numpy as np
import pytest

from repsketch import Sketch, lsh
from repsketch.cli.summary import summarize
from repsketch.data.tables import Table
from repsketch.teacher import as_teacher


@pytest.mark.parametrize(("y", "sketch_score", "teacher_score"), [(np.full(10, 5.0), 5.0, 2.0), (None, 3.0, None)])
def test_scores_are_against_the_target(y, sketch_score, teacher_score):
    X = np.zeros((10, 2), np.float32)
    sketch = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=8, n_features=2)  # predicts 0
    teacher = as_teacher(lambda X: np.full(len(X), 3.0), "regression")
    found = summarize(sketch, teacher, Table("train", X, y), Table("test", X, y), None)
    assert (found["sketch"]["score"], found["teacher"]["score"]) == (sketch_score, teacher_score)
    assert found["scored_against"] == ("teacher" if y is None else "target")
