"""The tests written in C, and damaged files under the sanitizers: a small share of ``make sanitize``."""

import re
import subprocess
import sys

import pytest

N_INPUTS = 6_000  # make sanitize: millions
SANITIZERS = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def seeds(root, run, once):
    """Good files of every kind."""
    return once("seeds", lambda folder: run(sys.executable, root / "native/tests/write_seeds.py", folder))


@pytest.fixture(scope="module")
def programs(root, run, compiler, once, tmp_path_factory):
    """The C tests, with the sanitizers where the compiler has them."""
    folder = tmp_path_factory.mktemp("empty")
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    linked = subprocess.run([compiler, *SANITIZERS, "empty.c", "-o", "empty"], cwd=folder, capture_output=True)
    has_sanitizers = linked.returncode == 0 and subprocess.run([folder / "empty"], capture_output=True).returncode == 0
    flags = ["-O1", *(SANITIZERS if has_sanitizers else ())]
    return once("programs", lambda folder: run("sh", root / "native/tests/build.sh", folder, *flags))


def test_reader_and_predictions(programs, seeds, run):
    assert run(programs / "test_file") == "test_file: ok\n"
    files = sorted(seeds.glob("*.rsk"))
    assert len(files) > 60
    assert re.fullmatch(
        rf"test_predict: {len(files)} files, best isa \w+, ok\n", run(programs / "test_predict", *files)
    )


def test_trainings_that_learn_and_that_diverge(programs, run):
    assert re.fullmatch(r"test_trainer: digest [0-9a-f]{8}, ok\n", run(programs / "test_trainer"))


def test_damaged_files(programs, seeds, run):
    files = sorted(seeds.glob("seed*.rsk"))
    printed = run(programs / "mutate", "--seed", 2, "--inputs", N_INPUTS, *files)
    counts = {name: int(n) for n, name in re.findall(r"^ *(\d+) (\w+)$", printed, re.MULTILINE)}
    assert sum(counts.values()) == N_INPUTS
    # The mutator is worth its time if files get past the first checks, and few checks are never met.
    assert 0.1 * N_INPUTS < counts["OK"] < 0.5 * N_INPUTS
    assert len(counts) > 45
    assert (
        run(programs / "mutate", "--seed", 2, "--inputs", 500, *files).splitlines()[1:]
        == (run(programs / "mutate", "--seed", 2, "--inputs", 500, *files).splitlines()[1:])
    )


def test_a_bad_seed_is_refused(programs, seeds, tmp_path):
    content = min(seeds.glob("seed*.rsk")).read_bytes()
    (tmp_path / "cut.rsk").write_bytes(content[:-8])
    done = subprocess.run([programs / "mutate", tmp_path / "cut.rsk"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "the file is shorter than it says" in done.stderr
    assert subprocess.run([programs / "test_predict", tmp_path / "cut.rsk"], capture_output=True).returncode == 1
