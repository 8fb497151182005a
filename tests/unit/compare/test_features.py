"""Features of peers: statistics of the training rows alone, by perturbation."""

from dataclasses import replace

import numpy as np

from repsketch.compare.features import Features
from repsketch.train.training_data import TrainingData


def test_validation_rows_change_no_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).astype(np.float32) * np.float32([1, 100, 1])
    X[:, 2] = 1.0  # constant in the training rows
    data = TrainingData.of(X, np.zeros((200, 1)), None, "regression")
    other = X.copy()
    other[data.validation_rows] = other[data.validation_rows] * 50 + 7
    other[data.validation_rows[:3], 0] = np.nan
    one, two = (Features.of(replace(data, X=table)) for table in (X, other))
    assert one.columns.tolist() == two.columns.tolist() == [0, 1]
    assert one.centers.tobytes() == two.centers.tobytes()
    assert one.scales.tobytes() == two.scales.tobytes()
    assert one.has_gaps.tolist() == two.has_gaps.tolist() == [False, False]
