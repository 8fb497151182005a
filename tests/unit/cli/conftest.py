"""Commands run as ``repsketch`` runs them, in this process, on a table of people."""

import numpy as np
import polars
import pytest

from support.commands import run


@pytest.fixture(name="run", scope="session")
def _run():
    return run


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """A CSV file with numbers, text, truth values and missing values; income follows from age and job."""
    rng = np.random.default_rng(0)
    n = 500
    age, job = rng.integers(18, 90, n), rng.choice(["clerk", "smith", "baker"], n)
    frame = polars.DataFrame(
        {
            "age": [None if gone else int(value) for value, gone in zip(age, rng.random(n) < 0.1, strict=True)],
            "job": [None if gone else str(value) for value, gone in zip(job, rng.random(n) < 0.1, strict=True)],
            "member": rng.random(n) < 0.5,
            "zip": rng.choice(["001", "002", "00X"], n),
            "income": np.where((age > 50) ^ (job == "smith"), "high", "low"),
        }
    )
    path = tmp_path_factory.mktemp("data") / "people.csv"
    frame.write_csv(path, null_value="?")
    return path


@pytest.fixture(scope="session")
def compressed(people, run, tmp_path_factory):
    """The folder that ``compress --train`` wrote, and what it printed."""
    folder = tmp_path_factory.mktemp("out") / "new" / "folder"
    options = ("--target", "income", "--budget", "512B", "--time-limit", "1", "-o", folder)
    return folder, run("compress", "--train", people, *options)


@pytest.fixture(scope="session")
def save_onnx():
    """Write an .onnx file that multiplies its inputs by weights (d, C)."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")

    def save(path, weights, last="Identity"):
        d, n_outputs = weights.shape
        number, helper = onnx.TensorProto.FLOAT, onnx.helper
        nodes = [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node(last, ["z"], ["scores"])]
        graph = helper.make_graph(
            nodes,
            "graph",
            [helper.make_tensor_value_info("x", number, ["rows", d])],
            [helper.make_tensor_value_info("scores", number, ["rows", n_outputs])],
            [onnx.numpy_helper.from_array(weights.astype(np.float32), "w")],
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return path

    return save
