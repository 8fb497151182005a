"""Scores of rows are in the units of the values."""

import numpy as np

from repsketch.compare.compare import row_scores
from repsketch.train.training_data import TrainingData


def test_errors_are_those_of_the_values():
    y = 1_000.0 + 50.0 * np.random.default_rng(0).normal(size=(100, 1))
    data = TrainingData.of(np.zeros((100, 1), np.float32), y, None, "regression")
    truth = y[data.validation_rows]
    np.testing.assert_allclose(row_scores(data, truth + 3.0), 3.0)
    np.testing.assert_allclose(row_scores(data, truth - 0.5), 0.5)


def test_classes_are_right_or_wrong():
    labels = np.eye(3)[np.arange(100) % 3]
    for given, wrong in ((labels, np.roll(labels, 1, axis=1)), (labels[:, 1:2], 1.0 - labels[:, 1:2])):
        data = TrainingData.of(np.zeros((100, 1), np.float32), given, None, "classification")
        for outputs, score in ((given, 1.0), (wrong, 0.0)):
            assert (row_scores(data, outputs[data.validation_rows] - 0.5) == score).all()
