"""What tests of the C files share: the compiler and the folders."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

fcntl = pytest.importorskip("fcntl", reason="locks are those of POSIX")

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def root():
    """The repository."""
    if not (ROOT / "native" / "rsk.h").exists():
        pytest.skip("the C files are not here: this is an installed package")
    return ROOT


@pytest.fixture(scope="session")
def compiler():
    """The C compiler's name."""
    name = os.environ.get("CC", "cc")
    if os.name != "posix" or shutil.which(name) is None:
        pytest.skip(f"no C compiler {name!r} and POSIX shell on this machine; set CC")
    return name


@pytest.fixture(scope="session")
def sanitizers(compiler, tmp_path_factory):
    """Flags of the sanitizers; none where the compiler has none."""
    flags = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
    folder = tmp_path_factory.mktemp("sanitizers")
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    linked = subprocess.run([compiler, *flags, "empty.c", "-o", "empty"], cwd=folder, capture_output=True)
    is_there = linked.returncode == 0 and subprocess.run([folder / "empty"], capture_output=True).returncode == 0
    return flags if is_there else []


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Fills a folder once for all test processes of a run: ``once(name, fill)`` is the folder."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def once(name, fill):
        folder = base / name
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "done").exists():
                fill(folder)
                (folder / "done").touch()
        return folder

    return once


@pytest.fixture(scope="session")
def run():
    """Runs a command and returns what it printed; what it said on an error is in the failure."""

    def run(*command, **options):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
        assert done.returncode == 0, f"{command[0]} gave {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
