"""Imports go downward only, and without the extras NumPy alone is enough to load and predict."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import repsketch

PACKAGE = "repsketch"
SOURCE = Path(repsketch.__file__).parent

# From the bottom to the top. Rooms of one line may import each other only where the line says so.
LAYERS = (
    {"errors", "_native"},
    {
        "core",
        "settings",
        "sparse",
        "progress",
        "files",
        "arrays",
        "cells",
        "frames",
        "predictor",
        "threads",
        "calibration",
        "comparison",
        "display",
    },
    {"lsh"},
    {"theory"},
    {"teacher"},
    {"kernel"},
    {"sketch"},
    {"tune"},
    {"io"},
    {"runtime"},
    {"export"},
    {"compare", "targets"},
    {"compress"},
    {"estimators"},
    {"cli"},
)
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
BASE = LEVEL["arrays"]  # the one line whose rooms may import each other
SIDE_ROOMS = {"baselines", "benchmarks", "distributed"}  # import the core, never the reverse
ROOT = ""  # repsketch/__init__.py: the public names
# What users hold reaches up, inside its functions only: a sketch predicts, saves and exports itself, and is compared.
FACADE = {Path("sketch/sketch.py"): {"io", "runtime", "export"}, Path("compare.py"): {"baselines"}}


def room_of(module: str) -> str:
    """The room of a dotted module name below the package: "repsketch.lsh.l2" is in "lsh"."""
    return module.removeprefix(PACKAGE).lstrip(".").partition(".")[0]


def is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def import_nodes(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import below ``node``, also inside functions, but not what only a type checker reads."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_type_checking(child.test):
            for alternative in child.orelse:
                yield from import_nodes(alternative)
        else:
            yield from import_nodes(child)


def imported_rooms(source: str, package: str) -> set[str]:
    """Rooms that a module of ``package`` imports."""
    rooms = set()
    for node in import_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            parts = package.split(".")
            start = parts[: len(parts) + 1 - node.level] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            # "from .. import lsh" names a room, "from .. import Sketch" a name of the root.
            names = [f"{base}.{alias.name}" if base == PACKAGE else base for alias in node.names]
        for name in names:
            if name == PACKAGE or name.startswith(PACKAGE + "."):
                room = room_of(name)
                rooms.add(room if room in LEVEL or room in SIDE_ROOMS or is_room(room) else ROOT)
    return rooms


def is_room(room: str) -> bool:
    return (SOURCE / room).is_dir() or (SOURCE / f"{room}.py").exists()


def violations(room: str, imports: set[str]) -> list[str]:
    """What is wrong with these imports of a module in ``room``."""
    unknown = sorted(name for name in {room, *imports} - {ROOT} if name not in LEVEL and name not in SIDE_ROOMS)
    if unknown:
        return [f"{name} has no place in the order of layers; add it to LAYERS or SIDE_ROOMS" for name in unknown]
    wrong = []
    for other in sorted(imports - {room}):
        if room == "cli":
            continue
        if room == ROOT:
            is_allowed = other != "cli" and other not in SIDE_ROOMS
        elif room in SIDE_ROOMS:
            is_allowed = other != "cli"
        elif other in SIDE_ROOMS or other == ROOT:
            is_allowed = False
        else:
            is_allowed = LEVEL[other] < LEVEL[room] or LEVEL[other] == LEVEL[room] == BASE
        if not is_allowed:
            wrong.append(f"{room or PACKAGE} imports {other or PACKAGE}")
    return wrong


MODULES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(SOURCE)) for path in MODULES])
def test_imports_go_downward(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    room = ROOT if parts == ("__init__",) else parts[0]
    package = ".".join([PACKAGE, *parts[:-1]])
    source = path.read_text(encoding="utf-8")
    allowed = FACADE.get(path.relative_to(SOURCE), set())
    assert violations(room, imported_rooms(source, package) - allowed) == []
    called_later = (ast.ClassDef, ast.FunctionDef)
    at_import = ast.Module([node for node in ast.parse(source).body if not isinstance(node, called_later)], [])
    assert not allowed & imported_rooms(ast.unparse(at_import), package), "only functions may reach up"


def test_modules_are_found():
    assert {"__init__.py", "errors.py"} <= {path.name for path in MODULES}
    assert {"lsh", "theory", "kernel", "sketch"} <= {path.parent.name for path in MODULES}


class TestTheCheckItself:
    @pytest.mark.parametrize(
        ("source", "package", "rooms"),
        [
            ("from ..lsh import L2", "repsketch.kernel", {"lsh"}),
            ("from ..lsh.l2 import L2", "repsketch.kernel", {"lsh"}),
            ("from .query import query", "repsketch.sketch", {"sketch"}),
            ("from . import lsh, theory", "repsketch", {"lsh", "theory"}),
            ("from .. import lsh, Sketch", "repsketch.kernel", {"lsh", ROOT}),
            ("import repsketch.sketch.build as b", "repsketch.lsh", {"sketch"}),
            ("import repsketch", "repsketch.lsh", {ROOT}),
            ("from repsketch.export import c", "repsketch.lsh", {"export"}),
            ("def f():\n    from ..sketch import Sketch", "repsketch.lsh", {"sketch"}),
            ("if TYPE_CHECKING:\n    from ..sketch import Sketch", "repsketch.lsh", set()),
            ("if TYPE_CHECKING:\n    pass\nelse:\n    from ..sketch import Sketch", "repsketch.lsh", {"sketch"}),
            ("import numpy\nfrom torch import Tensor", "repsketch.lsh", set()),
        ],
    )
    def test_reads_imports(self, source, package, rooms):
        assert imported_rooms(source, package) == rooms

    @pytest.mark.parametrize(
        ("room", "imports"),
        [
            ("lsh", {"sketch"}),
            ("lsh", {"theory"}),
            ("errors", {"arrays"}),
            ("sketch", {"estimators"}),
            ("kernel", {"baselines"}),
            ("baselines", {"cli"}),
            ("sketch", {ROOT}),
            (ROOT, {"cli"}),
            ("novelty", {"errors"}),
            ("sketch", {"novelty"}),
        ],
    )
    def test_refuses(self, room, imports):
        assert violations(room, imports) != []

    @pytest.mark.parametrize(
        ("room", "imports"),
        [
            ("sketch", {"lsh", "theory", "kernel", "errors", "sketch"}),
            ("predictor", {"arrays", "errors"}),
            ("distributed", {"sketch", "estimators"}),
            ("cli", {"baselines", "estimators", ROOT}),
            (ROOT, {"lsh", "estimators"}),
        ],
    )
    def test_allows(self, room, imports):
        assert violations(room, imports) == []


BLOCKED = """
import sys
import warnings

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "sklearn", "scipy", "rich", "typer"}:
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocker())
"""

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


def run_without_extras(script: str) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKED + script], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr


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
    run_without_extras(WITHOUT_CORE)


@pytest.mark.parametrize("script", ALONE.values(), ids=ALONE)
def test_numpy_alone_is_enough(script):
    run_without_extras(script)


def test_the_missing_extra_is_named():
    run_without_extras(
        """
import numpy as np
import repsketch as rs
from repsketch.errors import MissingExtraError

blank = rs.Sketch.empty(rs.lsh.L2(1.0), n_rows=4, n_buckets=4, n_features=1)
calls = {
    "distill": (lambda: rs.distill, "torch"),
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
"""
    )


def test_importing_loads_no_extra():
    script = "import sys, repsketch; print(sorted({'torch', 'sklearn', 'scipy', 'rich'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout.strip()) == (0, "[]"), result.stderr


def test_unknown_public_names_stay_attribute_errors():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = repsketch.no_such_name
    assert set(repsketch.__all__) == set(dir(repsketch))
