import numpy as np
import pytest
import torch

from repsketch.errors import InputError
from repsketch.theory import Cost
from repsketch_bench.baselines import quantize_network
from repsketch_bench.baselines.graphs import onnx_graph, onnx_session
from repsketch_bench.baselines.layers import fold_network, fresh_network, network_of
from repsketch_bench.baselines.networks import compare_network
from repsketch_bench.baselines.quantized import _quantize, int8_nbytes

pytest.importorskip("onnx")


def test_close_to_float_on_raw_inputs(teacher, X):
    """Columns differ by a factor of thousands; without their scales int8 inputs would lose the small ones."""
    exact = compare_network("float32", fold_network(teacher)).predict(X)
    small = quantize_network(teacher, X, progress=False)
    outputs = small.predict(X)
    assert outputs.shape == (len(X),)
    assert np.abs(outputs - exact).mean() < 0.05 * exact.std()
    assert not np.array_equal(outputs, exact)
    assert small.settings["n_tried"] == 4
    assert small.settings["validation_error"] == pytest.approx(np.abs(outputs - exact).mean(), rel=1e-3)


def test_sizes(teacher, X):
    small, cost = quantize_network(teacher, X, progress=False), Cost.of_mlp([4, 24, 12, 1])
    assert small.n_numbers == cost.parameters + 2 * 4
    assert small.flops == cost.paper_flops
    n_scales = 24 + 12 + 1 if small.settings["per_channel"] else 3
    assert small.nbytes == (4 * 24 + 24 * 12 + 12) + 4 * (24 + 12 + 1) + 4 * n_scales + 4 * 5 + 8 * 4


@pytest.mark.parametrize("per_channel", [False, True])
def test_the_file_holds_what_is_counted(per_channel):
    """Weights are int8 in the graph, with as many scales as ``int8_nbytes`` says; biases are int32."""
    onnx = pytest.importorskip("onnx")
    network = fresh_network([6, 5, 1])
    model = onnx.load_from_string(
        _quantize(network, np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32), "MinMax", per_channel)
    )
    arrays = {item.name: onnx.numpy_helper.to_array(item) for item in model.graph.initializer}
    weights = [array for name, array in arrays.items() if name.endswith("_quantized") and name.startswith("w")]
    biases = [array for name, array in arrays.items() if name.endswith("_quantized") and name.startswith("b")]
    scales = [array for name, array in arrays.items() if name.startswith("w") and name.endswith("_scale")]
    ranges = [array for name, array in arrays.items() if name[0] not in "wb" and name.endswith("_scale")]
    assert {array.dtype for array in weights} == {np.dtype(np.int8)}
    assert {array.dtype for array in biases} == {np.dtype(np.int32)}
    stored = sum(array.nbytes for array in (*weights, *biases, *scales)) + 5 * len(ranges)
    assert stored == int8_nbytes(network, per_channel)


def test_deterministic_and_silent(teacher, X, capfd):
    first, second = (quantize_network(teacher, X).predict(X) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert capfd.readouterr() == ("", "")


def test_graph_is_the_network(teacher, X):
    plain = fold_network(teacher)
    (outputs,) = onnx_session(onnx_graph(plain).SerializeToString()).run(["y"], {"x": X})
    with torch.no_grad():
        np.testing.assert_allclose(outputs, plain(torch.from_numpy(X)).numpy(), rtol=1e-4, atol=1e-3)


def test_refuses(teacher, X):
    with pytest.raises(InputError, match="X_calibration has 3 features, but this model takes 4"):
        quantize_network(teacher, X[:, :3])
    with pytest.raises(InputError, match="at least one row"):
        quantize_network(teacher, X[:0])
    with pytest.raises(InputError, match="2 outputs; allowed is one"):
        quantize_network(network_of([np.ones((2, 4))], [np.ones(2)]), X)
