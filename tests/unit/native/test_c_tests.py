"""The tests written in C, and damaged files under the sanitizers: a small share of ``make sanitize``."""

import re
import subprocess
import sys

import pytest

N_INPUTS = 20_000
SANITIZERS = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def seeds(root, run, tmp_path_factory):
    """Good files of every kind."""
    folder = tmp_path_factory.mktemp("seeds")
    run(sys.executable, root / "native/tests/write_seeds.py", folder)
    return folder


@pytest.fixture(scope="module")
def build(root, run, compiler, tmp_path_factory):
    """Compiles runtime and C tests with some flags; the folder they are in."""

    def build(*flags):
        folder = tmp_path_factory.mktemp("build")
        run("sh", root / "native/tests/build.sh", folder, *flags)
        return folder

    return build


@pytest.fixture(scope="module")
def plain(build):
    """Compiled without sanitizers."""
    return build("-O2")


def test_reader_and_predictions(plain, seeds, run):
    assert run(plain / "test_file") == "test_file: ok\n"
    files = sorted(seeds.glob("*.rsk"))
    assert len(files) > 60
    assert re.fullmatch(rf"test_predict: {len(files)} files, best isa \w+, ok\n", run(plain / "test_predict", *files))


def test_damaged_files(build, seeds, run, compiler, tmp_path):
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    program = tmp_path / "empty"
    linked = subprocess.run([compiler, *SANITIZERS, tmp_path / "empty.c", "-o", program], capture_output=True)
    if linked.returncode != 0 or subprocess.run([program], capture_output=True).returncode != 0:
        pytest.skip(f"{compiler} has no address sanitizer here")
    folder = build("-O1", *SANITIZERS)
    files = sorted(seeds.glob("seed*.rsk"))
    printed = run(folder / "mutate", "--seed", 2, "--inputs", N_INPUTS, *files)
    counts = {name: int(n) for n, name in re.findall(r"^ *(\d+) (\w+)$", printed, re.MULTILINE)}
    assert sum(counts.values()) == N_INPUTS
    # The mutator is worth its time if files get past the first checks, and few checks are never met.
    assert 0.1 * N_INPUTS < counts["OK"] < 0.5 * N_INPUTS
    assert len(counts) > 45
    assert (
        run(folder / "mutate", "--seed", 2, "--inputs", 500, *files).splitlines()[1:]
        == (run(folder / "mutate", "--seed", 2, "--inputs", 500, *files).splitlines()[1:])
    )


def test_a_bad_seed_is_refused(plain, seeds, tmp_path):
    content = min(seeds.glob("seed*.rsk")).read_bytes()
    (tmp_path / "cut.rsk").write_bytes(content[:-8])
    done = subprocess.run([plain / "mutate", tmp_path / "cut.rsk"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "the file is shorter than it says" in done.stderr
    assert subprocess.run([plain / "test_predict", tmp_path / "cut.rsk"], capture_output=True).returncode == 1
