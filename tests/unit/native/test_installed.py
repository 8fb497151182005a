"""A wheel carries the C runtime: a C program is built against an installed one alone, and gives Python's bits."""

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
def python(run, wheel, tmp_path_factory):
    """A Python with NumPy and the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    run(sys.executable, "-m", "venv", folder)
    pip = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    run(*pip, f"numpy=={np.__version__}")
    run(*pip, "--no-deps", wheel)
    return folder / "bin" / "python"


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
