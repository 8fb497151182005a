"""The arrays of a network: every one of them, and the same network from them."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.compare.network import Network
from repsketch.compare.network_arrays import input_arrays, network_arrays, network_from
from repsketch.model.inputs import Inputs
from repsketch.model.numbers import decode_bfloat16
from repsketch.runtime import runtime_for
from repsketch.train.training_data import TrainingData

X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
SETTING = {"n_hidden": 2, "learning_rate": 0.02, "weight_decay": 0.0, "noise": 0.0, "scaling": "standard"}


def network(task):
    labels = X[:, :1] if task == "regression" else (X[:, :1] > 0).astype(float)
    data = TrainingData.of(X, labels.astype(np.float64), None, task)
    method = Network(data, seed=0, is_distilled=False, largest=300, is_screening=True)
    trials = method._trials(SETTING | {"mixture": 0.0})
    return data, trials.trained(method.shape(SETTING | {"mixture": 0.0}, 300), 20)


@pytest.mark.parametrize(("task", "each"), [("classification", 2), ("regression", 4)])
def test_every_array_is_counted(task, each):
    data, model = network(task)
    arrays = network_arrays(model, data)
    sizes = {name: array.nbytes for name, array in arrays.items()}
    n, p = (stage.n_components for stage in model.stages)
    assert sizes.pop("centers") == sizes.pop("scales") == 3
    assert sizes == {
        "matrix 0": 3 * n, "multipliers 0": n, "shift 0": n, "matrix 1": n * p, "multipliers 1": p, "shift 1": p,
        "linear": p, "gain": each, "offset": each,
    }  # fmt: skip


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_network_of_the_arrays(task):
    data, model = network(task)
    arrays = network_arrays(model, data)
    rounded = model
    if task == "classification":
        gain, offset = (decode_bfloat16(arrays[name]) for name in ("gain", "offset"))
        rounded = replace(model, linear_gain=gain, offset=offset)
    expected = runtime_for(rounded).outputs(X)
    np.testing.assert_array_equal(runtime_for(network_from(arrays, model)).outputs(X), expected)
    for name in arrays.keys() - {"centers", "scales"}:
        changed = arrays | {name: arrays[name][::-1] if len(arrays[name]) > 1 else arrays[name] + 1}
        if not np.array_equal(changed[name], arrays[name]):
            outputs = runtime_for(network_from(changed, model)).outputs(X)
            assert not np.array_equal(outputs, expected), name


def test_columns_that_are_left_out():
    limits = (-127, 127)
    assert input_arrays(Inputs(9, columns=np.array([1, 8]), limits=limits))["columns"].tolist() == [64, 128]
    assert input_arrays(Inputs(2, columns=np.array([0, 1]), limits=limits)) == {}
    scales = np.ones(2, np.float32)
    assert input_arrays(Inputs(2, scales=scales, stored_as="bfloat16", limits=limits))["scales"].dtype == np.uint16
