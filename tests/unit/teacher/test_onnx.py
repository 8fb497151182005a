"""ONNX files as teachers."""

import numpy as np
import pytest

from repsketch.errors import InputError, TeacherError
from repsketch.teacher import as_teacher
from support.outputs import centred_logs, softmax

N_ROWS, N_FEATURES = 240, 4


class TestOnnx:
    WEIGHTS = np.random.default_rng(2).normal(size=(N_FEATURES, 3)).astype(np.float32)

    def save(self, path, nodes, outputs, n_rows="rows", kind="FLOAT", inputs=None):
        """Write a model that starts with scores = x @ WEIGHTS."""
        onnx = pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
        number = getattr(onnx.TensorProto, kind)
        weights = onnx.numpy_helper.from_array(
            self.WEIGHTS.astype(onnx.helper.tensor_dtype_to_np_dtype(number)), "weights"
        )
        x = onnx.helper.make_tensor_value_info("x", number, [n_rows, N_FEATURES])
        product = onnx.helper.make_node("MatMul", ["x", "weights"], ["scores"])
        graph = onnx.helper.make_graph([product, *nodes], "graph", inputs or [x], outputs, [weights])
        opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
        return path

    def tensor(self, name, kind="FLOAT", shape=("rows", 3)):
        onnx = pytest.importorskip("onnx")
        return onnx.helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), shape)

    def node(self, *args, **options):
        return pytest.importorskip("onnx").helper.make_node(*args, **options)

    def argmax(self):
        return self.node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0)

    def test_linear_layer(self, X, tmp_path):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores")])
        for given in (path, str(path)):
            teacher = as_teacher(given)
            outputs = teacher.label(X)
            assert (teacher.name, teacher.n_features, outputs.task) == ("model.onnx", N_FEATURES, "classification")
            np.testing.assert_allclose(outputs.values, X @ self.WEIGHTS, atol=1e-5)

    def test_regression_by_task(self, X, tmp_path):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores")])
        outputs = as_teacher(path, task="regression").label(X)
        assert (outputs.task, outputs.classes) == ("regression", None)
        np.testing.assert_allclose(outputs.values, X @ self.WEIGHTS, atol=1e-5)

    def test_softmax_beside_a_label(self, X, tmp_path):
        nodes = [self.node("Softmax", ["scores"], ["p"], axis=1), self.argmax()]
        outputs = [self.tensor("p"), self.tensor("label", "INT64", ("rows",))]
        values = as_teacher(self.save(tmp_path / "model.onnx", nodes, outputs)).label(X).values
        np.testing.assert_allclose(values, centred_logs(softmax(X @ self.WEIGHTS)), atol=1e-4)

    def test_the_last_floating_output_is_taken(self, X, tmp_path):
        nodes = [self.node("Neg", ["scores"], ["opposite"])]
        path = self.save(tmp_path / "model.onnx", nodes, [self.tensor("scores"), self.tensor("opposite")])
        np.testing.assert_allclose(as_teacher(path).label(X).values, -X @ self.WEIGHTS, atol=1e-5)

    def test_double(self, X, tmp_path):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores", "DOUBLE")], kind="DOUBLE")
        np.testing.assert_allclose(as_teacher(path).label(X).values, X @ self.WEIGHTS, atol=1e-5)

    @pytest.mark.parametrize("n_rows", [1, 7, 1000])
    def test_fixed_batch(self, X, tmp_path, n_rows):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores", shape=(n_rows, 3))], n_rows)
        np.testing.assert_allclose(as_teacher(path).label(X).values, X @ self.WEIGHTS, atol=1e-5)

    @pytest.mark.parametrize("n_rows", ["rows", 7])
    def test_zip_map(self, X, tmp_path, n_rows):
        onnx = pytest.importorskip("onnx")
        nodes = [
            self.node("Softmax", ["scores"], ["p"], axis=1),
            self.node("ZipMap", ["p"], ["maps"], domain="ai.onnx.ml", classlabels_strings=["c", "a", "b"]),
        ]
        text, number = onnx.TensorProto.STRING, onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
        kind = onnx.helper.make_sequence_type_proto(onnx.helper.make_map_type_proto(text, number))
        path = self.save(tmp_path / "model.onnx", nodes, [onnx.helper.make_value_info("maps", kind)], n_rows)
        outputs = as_teacher(path).label(X)
        np.testing.assert_array_equal(outputs.classes, ["a", "b", "c"])
        np.testing.assert_allclose(outputs.values, centred_logs(softmax(X @ self.WEIGHTS))[:, [1, 2, 0]], atol=1e-4)
        np.testing.assert_array_equal(as_teacher(path, classes=[1, 2, 3]).label(X).classes, [1, 2, 3])
        with pytest.raises(TeacherError, match="does classification"):
            as_teacher(path, task="regression").label(X)

    def test_wrong_width(self, X, tmp_path):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores")])
        with pytest.raises(InputError, match="X has 3 features, but this model takes 4"):
            as_teacher(path).label(X[:, :3])

    def test_labels_alone(self, tmp_path):
        path = self.save(tmp_path / "model.onnx", [self.argmax()], [self.tensor("label", "INT64", ("rows",))])
        with pytest.raises(TeacherError, match="and a floating output"):
            as_teacher(path)

    def test_other_inputs(self, tmp_path):
        both = [self.tensor("x", shape=("rows", N_FEATURES)), self.tensor("z")]
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores")], inputs=both)
        with pytest.raises(TeacherError, match="allowed is one input"):
            as_teacher(path)

    def test_no_file(self, tmp_path):
        with pytest.raises(TeacherError, match="there is no file"):
            as_teacher(tmp_path / "model.onnx")

    @pytest.mark.parametrize("name", ["model.pkl", "model", "LogisticRegression"])
    def test_other_suffix(self, name):
        with pytest.raises(TeacherError, match=r"does not end in \.onnx"):
            as_teacher(name)

    def test_no_model_in_the_file(self, tmp_path):
        pytest.importorskip("onnxruntime")
        path = tmp_path / "model.onnx"
        path.write_bytes(b"not a model")
        with pytest.raises(TeacherError, match="ONNX Runtime cannot load"):
            as_teacher(path)
