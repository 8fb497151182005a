"""Runtime and trainer on another processor: cross-compiled for 64-bit ARM by zig, run by qemu, the same bits."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from repsketch.io import model_to_bytes
from repsketch.model.oracle import query
from support.models import THEMES, random_inputs, random_model

ROOT = Path(__file__).resolve().parents[2]
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(QEMU is None, reason="needs qemu-aarch64 (Debian: qemu-user-static)"),
    pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs ziglang (pip install ziglang)"),
    pytest.mark.skipif(not (ROOT / "native" / "rsk.h").exists(), reason="the C files are not here"),
]


def run(*command, **options) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The C tests and the example as programs for ARM."""
    folder = tmp_path_factory.mktemp("arm")
    compiler = folder / "cc"
    compiler.write_text(f'#!/bin/sh\nexec {sys.executable} -m ziglang cc -target aarch64-linux-musl "$@"\n')
    compiler.chmod(0o755)
    run("sh", ROOT / "native/tests/build.sh", folder / "built", "-O2", env=os.environ | {"CC": str(compiler)})
    objects = sorted((folder / "built").glob("*.o"))
    assert "neon.o" in {path.name for path in objects}
    run(compiler, "-O2", f"-I{ROOT / 'native'}", ROOT / "examples/c/predict.c", *objects, "-o", folder / "predict")
    return folder


def test_the_c_tests_pass(folder):
    run(sys.executable, ROOT / "native/tests/write_seeds.py", folder / "seeds")
    assert run(QEMU, folder / "built/test_file") == "test_file: ok\n"
    assert "best isa neon, ok" in run(QEMU, folder / "built/test_predict", *sorted((folder / "seeds").glob("*.rsk")))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler cc on this machine")
def test_trainings_give_the_same_bits_as_here(folder, tmp_path):
    """Parameters, validation losses and outputs of all options; the test itself compares NEON with plain C."""
    run("sh", ROOT / "native/tests/build.sh", tmp_path, "-O2", env=os.environ | {"CC": "cc"})
    here = run(tmp_path / "test_trainer")
    assert re.fullmatch(r"test_trainer: digest [0-9a-f]{8}, ok\n", here)
    assert run(QEMU, folder / "built/test_trainer") == here


@pytest.mark.parametrize("seed", range(2 * len(THEMES)))
def test_outputs_are_the_oracles(folder, seed):
    model = random_model(seed)
    path = folder / f"{seed}.rsk"
    path.write_bytes(model_to_bytes(model))
    X = random_inputs(model, 3, seed)
    expected = query(model, X)
    for row, outputs in zip(X, expected, strict=True):
        printed = run(QEMU, folder / "predict", path, *(repr(float(x)) for x in row))
        assert np.array(printed.split(), np.float32).tobytes() == outputs.tobytes()
