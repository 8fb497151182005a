"""The extension with failures on demand, under the address sanitizer: no failure ends the process."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def sanitizer(compiler):
    """The libraries that must be loaded first: the sanitizer, and the one whose functions it looks for."""

    def find(name):
        command = [compiler, f"-print-file-name={name}"]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    found = [find("libasan.so"), find("libstdc++.so")]
    if sys.platform != "linux" or not all(map(os.path.isabs, found)):
        pytest.skip(f"{compiler} has no address sanitizer here")
    return " ".join(found)


@pytest.fixture(scope="module")
def library(root, sanitizer, tmp_path_factory):
    """The extension, built with RSK_FAULTS."""
    folder = tmp_path_factory.mktemp("faults")
    options = ["-C", "cmake.define.RSK_FAULTS=ON", "-C", f"build-dir={folder}/build", "-w", str(folder)]
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps"]
    built = subprocess.run([*pip, *options, str(root)], capture_output=True, text=True)
    if "No matching distribution" in built.stderr:
        pytest.skip("scikit-build-core and nanobind cannot be downloaded here")
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if "_native" in name)
        return archive.extract(name, folder)


@pytest.mark.slow
def test_every_allocation_and_thread_start_may_fail(library, sanitizer):
    # CPython keeps memory until it ends, so leaks are not looked for; memory of this library's own operator new may be
    # freed by that of another.
    settings = "detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1"
    environment = {**os.environ, "LD_PRELOAD": sanitizer, "ASAN_OPTIONS": settings, "PYTHONMALLOC": "malloc"}
    script = [sys.executable, str(HERE / "faults.py"), library]
    done = subprocess.run(script, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    n_allocations, n_starts, outcomes = done.stdout.split(maxsplit=2)
    assert int(n_allocations) > 40
    assert int(n_starts) > 10
    # Every failed allocation is an error, and every thread that was not started is made up for by the others.
    assert outcomes.strip() == f"{{'allocation: MemoryError': {n_allocations}, 'start: as ever': {n_starts}}}"
