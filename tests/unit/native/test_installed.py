"""A wheel carries the C runtime: a C program is built against an installed one alone, and gives Python's bits.

With each extra alone, in an environment of its own, the wheel does what the extra promises.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import repsketch

EVERY_HEADER = {"rsk.h", "rsk_format.h", "rsk_status.def", "rsk-config.cmake", "rsk.pc"}
#: Runs in the empty environment: makes a sketch, saves it, prints its outputs as hexadecimal numbers.
MAKE_SKETCH = """
import sys
import numpy as np
import repsketch
from repsketch import Sketch, lsh
rng = np.random.default_rng(0)
sketch = Sketch.empty(lsh.L2(2.0), n_rows=60, n_buckets=16, n_features=3, n_concat=1)
sketch = sketch.add(rng.normal(size=(30, 3)), progress=False)
rows = rng.normal(size=(4, 3)).astype(np.float32)
for name, made in (("float32", sketch), ("int", sketch.quantize(rng.normal(size=(50, 3))))):
    made.save(f"{name}.rsk")
    for row in rows:
        print(name, *(repr(float(x)) for x in row), made.outputs(row[None]).tobytes().hex())
"""


def test_the_folder_has_everything_a_build_needs(root):
    folder = Path(repsketch.get_include())
    there = {path.name for path in folder.iterdir()}
    wanted = {path.name for path in (root / "native").glob("rsk*") if path.suffix != ".in"}
    assert there >= wanted | EVERY_HEADER
    stale = [name for name in wanted if (folder / name).read_bytes() != (root / "native" / name).read_bytes()]
    assert not stale, f"{stale} of the installed package are not those of the checkout; run make .venv/dev"


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """The package as ``pip wheel`` makes it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps"]
    built = subprocess.run(
        [*pip, "-C", f"build-dir={folder}/build", "-w", str(folder), str(root)], capture_output=True, text=True
    )
    if "No matching distribution" in built.stderr:
        pytest.skip("scikit-build-core and nanobind cannot be downloaded here")
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def install(root, run, wheel, tmp_path_factory):
    """A function that makes an environment with the wheel, some of its extras, and nothing else."""

    def install(extras: str, python: str | Path = sys.executable, source: str | None = None) -> Path:
        folder = tmp_path_factory.mktemp("empty") / "venv"
        run(python, "-m", "venv", folder)
        pip = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        run(*pip, "-c", root / "constraints.txt", f"repsketch{extras} @ {source or wheel.as_uri()}")
        return folder / "bin"

    return install


@pytest.fixture(scope="module")
def python(install):
    """A Python with NumPy and the wheel, and nothing else."""
    return install("") / "python"


@pytest.mark.slow
def test_the_wheel_lists_the_c_sources(root, wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {path.name for path in (root / "native").glob("rsk*") if path.suffix != ".in"} | EVERY_HEADER
    assert {f"repsketch/native/{name}" for name in wanted} <= names


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["make", "cmake"])
def test_a_program_built_against_the_wheel_gives_pythons_bits(root, run, compiler, python, tmp_path, tool):
    if shutil.which(tool) is None or (tool == "make" and shutil.which("pkg-config") is None):
        pytest.skip(f"no {tool} or pkg-config on this machine")
    for name in ("predict.c", "Makefile", "CMakeLists.txt"):
        shutil.copy(root / "examples" / "c" / name, tmp_path)
    if tool == "make":
        run("make", f"PYTHON={python}", f"CC={compiler}", cwd=tmp_path)
        program = tmp_path / "predict"
    else:
        include = run(python, "-c", "import repsketch; print(repsketch.get_include())", cwd=tmp_path).strip()
        run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Drsk_DIR={include}", f"-DCMAKE_C_COMPILER={compiler}")
        run("cmake", "--build", tmp_path / "build")
        program = tmp_path / "build" / "predict"
    lines = run(python, "-c", MAKE_SKETCH, cwd=tmp_path).splitlines()
    assert len(lines) == 8
    for line in lines:
        name, *row, wanted = line.split()
        printed = run(program, tmp_path / f"{name}.rsk", *row)
        assert np.array(printed.split(), np.float32).tobytes().hex() == wanted


#: Runs where [train] is installed alone: no command line, no ONNX, no LightGBM.
TRAIN = """
import numpy as np
import repsketch as rs
X = np.random.default_rng(0).normal(size=(200, 3))
sketch = rs.compress(None, X, X[:, 0] > 0, budget="256B", time_limit=2.0, random_state=0, progress=False)
print((sketch.predict(X) == (X[:, 0] > 0)).mean() > 0.9, [row["name"] for row in sketch.summary.rows])
print(rs.SketchRegressor(budget="256B", time_limit=1.0).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.5)
"""


@pytest.mark.slow
def test_numpy_alone_loads_and_predicts(run, python, tmp_path):
    assert len(run(python, "-c", MAKE_SKETCH, cwd=tmp_path).splitlines()) == 8
    script = "import repsketch as rs; print(rs.load('int.rsk').predict([[0.0, 1.0, 2.0]]).shape); rs.compress"
    assert "(1,)" in run(python, "-c", script, cwd=tmp_path)
    ended = subprocess.run(
        [python, "-c", "import repsketch as rs; rs.compress(None, [[1.0]], [1.0])"], capture_output=True, text=True
    )
    assert "pip install 'repsketch[train]'" in ended.stderr
    ended = subprocess.run([python.parent / "repsketch", "--version"], capture_output=True, text=True)
    assert (ended.returncode, "pip install 'repsketch[cli]'" in ended.stderr) == (2, True), ended.stderr


@pytest.mark.slow
def test_train_alone_compresses(run, install, tmp_path):
    good, regression = run(install("[train]") / "python", "-c", TRAIN, cwd=tmp_path).splitlines()
    assert good.startswith("True ['sketch', ")
    assert regression == "True"


#: Trains from a table of each task, labels alone and with the default teacher, and prints digests.
SAME_BYTES = """
import hashlib
import numpy as np
import repsketch as rs
from repsketch.io import model_to_bytes
rng = np.random.default_rng(0)
X = rng.normal(size=(1_200, 6))
X[:, 3:] = X[:, 3:] > 0
wave = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 3]
for y in (wave, wave > 0.2, np.digitize(wave, [-0.5, 0.5])):
    sketch = rs.compress(None, X, y, budget="400B", effort="fast", random_state=0, progress=False)
    print(hashlib.sha256(model_to_bytes(sketch.model)).hexdigest())
"""


def other_pythons() -> list[Path]:
    """Interpreters of other versions that we support: on the path, or installed by pyenv."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), *Path("~/.pyenv/versions").expanduser().glob("*/bin")]
    found = {}
    for path in sorted(path for folder in folders for path in Path(folder).glob("python3.[0-9]*")):
        minor = path.name.removeprefix("python3.")
        if not minor.isdigit() or int(minor) < 11 or int(minor) == sys.version_info.minor:
            continue
        asked = subprocess.run([path, "-c", "import venv, sys; print(sys.version_info.minor)"], capture_output=True)
        if asked.returncode == 0 and asked.stdout.strip() == minor.encode():  # not the stand-in for one that is off
            found.setdefault(minor, path)
    return list(found.values())


@pytest.mark.slow
def test_another_version_of_python_trains_the_same_bytes(root, run, install, tmp_path):
    pythons = other_pythons()
    if not pythons:
        pytest.skip("no other Python of 3.11 or newer on this machine")
    here = run(sys.executable, "-c", SAME_BYTES, cwd=tmp_path)
    assert len(set(here.split())) == 3
    other = install("[train]", pythons[-1], root.as_uri()) / "python"  # its own wheel
    assert run(other, "-c", SAME_BYTES, cwd=tmp_path) == here


@pytest.mark.slow
def test_cli_alone_predicts_and_inspects(run, install, tmp_path):
    folder = install("[cli]")
    run(folder / "python", "-c", MAKE_SKETCH, cwd=tmp_path)
    (tmp_path / "rows.csv").write_text("a,b,c\n0,1,2\n3,4,5\n")
    printed = run(folder / "repsketch", "predict", "int.rsk", "rows.csv", cwd=tmp_path)
    assert len(printed.splitlines()) == 3
    assert "60 rows" in " ".join(run(folder / "repsketch", "inspect", "int.rsk", cwd=tmp_path).split())
    installed = run(folder / "python", "-m", "pip", "list", "--format=freeze")
    assert not [name for name in ("polars", "pyarrow", "pandas", "scikit-learn") if name in installed]
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    command = [folder / "repsketch", "predict", "int.rsk", "rows.parquet"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, "pip install 'repsketch[parquet]'" in ended.stderr) == (2, True), ended.stderr
    command = [folder / "repsketch", "compress", "--train", "rows.csv", "-t", "c", "-o", tmp_path / "out"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "pip install 'repsketch[train]'" in ended.stderr
