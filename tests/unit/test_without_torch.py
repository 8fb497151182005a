"""Where torch is not installed everything works but torch teachers."""

import pytest

from support.blocked import run_without

STAGES = """
import numpy as np
import repsketch as rs

X = np.random.default_rng(0).normal(size=(300, 3))
def wave(X):
    return np.sin(X[:, 0]) + 0.5 * X[:, 1]
for options in ({}, {"kernel": "closed_form"}, {"family": "l1"}, {"family": "angular"}, {"family": "minhash"}):
    kernel = rs.distill(wave, X, n_points=16, n_components=2, n_epochs=5, progress=False, **options)
    assert kernel.predict(X).shape == (300,)
    if options:
        continue
    sketch = rs.build_sketch(kernel, n_rows=50, n_buckets=4, progress=False)
    fitted = sketch.refit(X, wave(X), progress=False)
    assert fitted.quantize(X).predict(X).shape == (300,)
    assert ((fitted.predict(X) - wave(X)) ** 2).mean() < 0.2 * wave(X).var()
assert "torch" not in sys.modules
"""


def test_the_papers_stages():
    run_without({"torch"}, STAGES)


COMPRESS = """
import tempfile
import numpy as np
import repsketch as rs

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 4)).astype(np.float32)
y = (X[:, 0] + X[:, 1] * (X[:, 2] > 0) > 0).astype(int)
folder = tempfile.TemporaryDirectory()

def train():
    {train}

options = {{"task": "classification", "effort": "fast", "time_limit": 6, "random_state": 0, "progress": False}}
sketch = rs.compress(train(), X, y, budget="512B", **options)
assert (sketch.predict(X) == y).mean() > 0.85, sketch.summary
assert sketch.nbytes <= 512
assert len(sketch.summary.rows) > 1  # peers were trained, too
assert "torch" not in sys.modules
"""

TEACHERS = {
    "a table alone": (None, "return None"),
    "scikit-learn": (
        "sklearn",
        "from sklearn.ensemble import RandomForestClassifier; "
        "return RandomForestClassifier(20, random_state=0).fit(X, y)",
    ),
    "LightGBM": (
        "lightgbm",
        "from lightgbm import LGBMClassifier; return LGBMClassifier(n_estimators=20, verbose=-1).fit(X, y)",
    ),
    "XGBoost": ("xgboost", "from xgboost import XGBClassifier; return XGBClassifier(n_estimators=20).fit(X, y)"),
    "an ONNX file": (
        "onnx",
        "from onnx import TensorProto, helper, numpy_helper, save; "
        "matrix = numpy_helper.from_array(np.array([[2.0], [1.0], [0.0], [0.0]], np.float32), 'matrix'); "
        "nodes = [helper.make_node('MatMul', ['X', 'matrix'], ['z']), helper.make_node('Sigmoid', ['z'], ['p'])]; "
        "ends = [helper.make_tensor_value_info(end, TensorProto.FLOAT, [None, n]) for end, n in (('X', 4), ('p', 1))]; "
        "graph = helper.make_graph(nodes, 'teacher', ends[:1], ends[1:], [matrix]); "
        "opsets = [helper.make_opsetid('', 17)]; "
        "save(helper.make_model(graph, ir_version=8, opset_imports=opsets), folder.name + '/teacher.onnx'); "
        "return folder.name + '/teacher.onnx'",
    ),
    "a function": (None, "return lambda X: 1 / (1 + np.exp(-3 * (X[:, 0] + X[:, 1] * (X[:, 2] > 0))))"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("library", "train"), TEACHERS.values(), ids=TEACHERS)
def test_compress(library, train):
    if library is not None:
        pytest.importorskip(library)
    if library == "onnx":
        pytest.importorskip("onnxruntime")
    run_without({"torch"}, COMPRESS.format(train=train), timeout=120, strict=False)
