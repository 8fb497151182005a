"""Models trained side by side with torch: weight decay, and the best parameters instead of the last."""

import numpy as np
import torch

from repsketch_bench.peers.layers import Layers
from repsketch_bench.peers.stack import TrainingRows, train_stack


def trained(labels, validation, settings, n_steps=200):
    X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    given = (
        TrainingRows(torch.from_numpy(X), *(torch.from_numpy(np.float32(y)),) * 2, "log_loss")
        for y in (labels(X), validation(X))
    )
    return train_stack(Layers((3, 4, 1), len(settings), 0), *given, settings, n_steps, 0)


def step(X):
    return (X[:, :1] > 0).astype(float)


def test_weight_decay_shrinks_weights():
    found = trained(step, step, [{"rate": 0.01, "decay": 0.0}, {"rate": 0.01, "decay": 3.0}])
    weights = [float(sum(found[name][k].abs().sum() for name in found if name != "stopped")) for k in (0, 1)]
    assert weights[1] < 0.8 * weights[0]


def test_the_best_parameters_are_taken_not_the_last():
    settings = [{"rate": 0.03}]
    last = trained(step, step, settings)
    early = trained(step, lambda X: 1.0 - step(X), settings)  # a validation loss that rises with every step
    assert float(early["stopped"][0]) < 0.6 < float(last["stopped"][0])
