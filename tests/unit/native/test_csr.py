"""Sparse rows as the Python binding checks them, compiled here with the sanitizers and without Python."""

import os
import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "csr"


def test_sparse_rows(root, run, sanitizers, tmp_path):
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        pytest.skip(f"no C++ compiler {compiler!r} on this machine; set CXX")
    binding = root / "bindings/python"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-O1", *sanitizers, f"-I{HERE}", f"-I{binding}", f"-I{root / 'native'}"]
    run(compiler, *flags, HERE / "test_csr.cpp", binding / "csr.cpp", "-o", tmp_path / "test_csr")
    assert run(tmp_path / "test_csr").endswith("ok\n")
