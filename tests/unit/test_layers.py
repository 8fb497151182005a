"""Imports go downward only, and without the extras NumPy alone is enough to load and predict."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import repsketch
from import_graph import LAYERS, PACKAGE, find_cycle, imported_modules, read_graph, rooms_of, upward_imports
from support.blocked import run_without

GRAPH = read_graph(Path(repsketch.__file__).parent)


def test_imports_go_downward():
    assert upward_imports(GRAPH) == []


def test_no_modules_import_each_other():
    assert find_cycle(GRAPH) == []


def test_modules_are_found():
    assert {"repsketch", "repsketch.errors", "repsketch.lsh.l2", "repsketch.io.read"} <= set(GRAPH)
    assert set(rooms_of(GRAPH)) == set(LAYERS)
    assert "repsketch.train.search" in GRAPH["repsketch.sizes"], "imports inside functions count"


#: What may import torch: the adapter of torch modules.
TORCH = re.compile(r"^\s*(import torch\b|from torch\b|.*\b(require|import_module)\(\"torch)", re.MULTILINE)


def test_torch_is_imported_by_the_adapter_of_its_modules_only():
    root = Path(repsketch.__file__).parent
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if TORCH.search(path.read_text())}
    assert found == {"teacher/torch.py"}


class TestTheCheckItself:
    @pytest.mark.parametrize(
        ("source", "module", "found"),
        [
            ("from ..lsh import L2", "repsketch.paper.build", {"repsketch.lsh"}),
            ("from ..lsh.l2 import L2", "repsketch.paper.build", {"repsketch.lsh.l2"}),
            ("from .l2 import L2", "repsketch.lsh.rows", {"repsketch.lsh.l2"}),
            ("from .. import lsh, Sketch", "repsketch.paper.build", {"repsketch.lsh", "repsketch"}),
            ("import repsketch.lsh.l2 as b", "repsketch.errors", {"repsketch.lsh.l2"}),
            ("import repsketch", "repsketch.lsh.l2", {"repsketch"}),
            ("def f():\n    from ..sketch import Sketch", "repsketch.lsh.l2", {"repsketch.sketch"}),
            ("if TYPE_CHECKING:\n    from ..sketch import Sketch", "repsketch.lsh.l2", set()),
            (
                "if TYPE_CHECKING:\n    pass\nelse:\n    from ..sketch import Sketch",
                "repsketch.lsh.l2",
                {"repsketch.sketch"},
            ),
            ("import numpy\nfrom torch import Tensor", "repsketch.lsh.l2", set()),
        ],
    )
    def test_reads_imports(self, source, module, found):
        assert imported_modules(source, module, False, set(GRAPH)) == found

    def test_reads_imports_of_a_package(self):
        assert imported_modules("from . import lsh", PACKAGE, True, set(GRAPH)) == {"repsketch.lsh"}

    @pytest.mark.parametrize(
        ("module", "other"),
        [
            ("repsketch.lsh.l2", "repsketch.sketch.sketch"),
            ("repsketch.errors", "repsketch.data.arrays"),
            ("repsketch.sketch.sketch", "repsketch.estimators"),
            ("repsketch.sketch.sketch", "repsketch"),
            ("repsketch", "repsketch.cli"),
            ("repsketch.novelty", "repsketch.errors"),
            ("repsketch.sketch.sketch", "repsketch.novelty"),
        ],
    )
    def test_refuses(self, module, other):
        assert upward_imports({module: {other}}) != []

    @pytest.mark.parametrize(
        ("module", "other"),
        [
            ("repsketch.sketch.sketch", "repsketch.io"),
            ("repsketch.sketch.build", "repsketch.sketch.sketch"),
            ("repsketch.cli.demo", "repsketch"),
            ("repsketch", "repsketch.estimators"),
        ],
    )
    def test_allows(self, module, other):
        assert upward_imports({module: {other}}) == []

    def test_finds_circles(self):
        assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}})[0] in "abc"


EXTRAS = {"torch", "sklearn", "scipy", "rich", "typer"}

ALONE = {
    "a density": """
import numpy as np
import repsketch as rs
density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=60, n_buckets=16, n_features=2, n_concat=2)
density = density.add([[0.0, 0.0], [9.0, 9.0]], [2.0, 1.0])
assert abs(density.predict([[0.0, 0.0]])[0] - 2.0) < 0.5
assert density.nbytes > 0 and density.cost().parameters == 60 * 16
""",
    "a kernel model and its sketch": """
import numpy as np
import repsketch as rs
ones = np.ones((3, 1), np.float32)
points = np.arange(6, dtype=np.float32).reshape(3, 2)
f_K = rs.KernelModel(points, ones, ones[0], rs.lsh.L2(bandwidth=8.0), kernel="as_hashed", n_directions=64)
sketch = rs.build_sketch(f_K, n_rows=64, n_buckets=16)
assert f_K.predict(points).shape == sketch.predict(points).shape == (3,)
sketch = sketch.calibrate(points, [1.0, 2.0, 3.0])
assert sketch.merge(sketch).subtract(points, ones).counters.shape == (64, 16, 1)
""",
    "every family": """
import numpy as np
import repsketch as rs
for family in (rs.lsh.L2(1.0), rs.lsh.L2(1.0, "gaussian"), rs.lsh.L1(1.0), rs.lsh.Angular(), rs.lsh.MinHash()):
    sketch = rs.Sketch.empty(family, n_rows=5, n_buckets=4, n_features=3).add(np.eye(3))
    assert np.isfinite(sketch.predict(np.eye(3))).all()
""",
}


WITHOUT_CORE = """
import sys
import tempfile
import numpy as np

sys.modules["repsketch._native"] = None
import repsketch as rs
points = np.eye(3, dtype=np.float32)
f_K = rs.KernelModel(points, points, points[0], rs.lsh.L2(bandwidth=1.0))
sketch = rs.build_sketch(f_K, n_rows=20, n_buckets=8).quantize(points)
with tempfile.TemporaryDirectory() as folder:
    sketch.save(folder + "/sketch.rsk")
    again = rs.load(folder + "/sketch.rsk")
assert np.array_equal(again.outputs(points), sketch.outputs(points))
try:
    rs.KernelModel(points, points, points[0], rs.lsh.L2(1.0), kernel="as_hashed", n_directions=16).predict(points)
except rs.RepSketchError as error:
    assert "compiled core" in str(error)
else:
    raise AssertionError("this needs the core")
"""


def test_without_the_core_numpy_predicts():
    run_without(EXTRAS, WITHOUT_CORE)


@pytest.mark.parametrize("script", ALONE.values(), ids=ALONE)
def test_numpy_alone_is_enough(script):
    run_without(EXTRAS, script)


def test_the_missing_extra_is_named():
    run_without(
        EXTRAS,
        """
import numpy as np
import repsketch as rs
from repsketch.errors import MissingExtraError

blank = rs.Sketch.empty(rs.lsh.L2(1.0), n_rows=4, n_buckets=4, n_features=1)
calls = {
    "distill": (lambda: rs.distill, "scipy"),
    "SketchClassifier": (lambda: rs.SketchClassifier, "sklearn"),
    "SketchRegressor": (lambda: rs.SketchRegressor, "sklearn"),
    "refit": (lambda: blank.refit([[0.0], [1.0]], [0.0, 1.0]), "scipy"),
    "l2 kernel": (lambda: rs.lsh.L2(1.0).closed_form([[0.0]], [[1.0]]), "scipy"),
}
for name, (call, library) in calls.items():
    try:
        call()
    except MissingExtraError as error:
        assert "pip install 'repsketch[train]'" in str(error) and library in str(error), (name, str(error))
        assert isinstance(error, ImportError) and isinstance(error, rs.RepSketchError)
    else:
        raise SystemExit(f"{name} worked without {library}")
""",
    )


def test_importing_loads_no_extra():
    script = "import sys, repsketch; print(sorted({'torch', 'sklearn', 'scipy', 'rich'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout.strip()) == (0, "[]"), result.stderr


def test_unknown_public_names_stay_attribute_errors():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = repsketch.no_such_name
    assert set(repsketch.__all__) == set(dir(repsketch))
