"""The C runtime as other compilers' settings make it: without optimisation, with some, with all. The same bits.

Built from ``native/`` alone, as a user of the C library would, and called through a shim.
"""

import ctypes
import re

import numpy as np
import pytest

from repsketch.io import model_to_bytes
from repsketch.model.oracle import query
from support.compiled import COMPILER, NATIVE, build, isas_of_cmake
from support.models import THEMES, random_inputs, random_model

N_MODELS = 5 * len(THEMES)

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no gcc on this machine")


@pytest.fixture(
    scope="session", params=["-O0", *(pytest.param(flag, marks=pytest.mark.slow) for flag in ("-O2", "-O3"))]
)
def library(request, tmp_path_factory):
    """One build a session."""
    loaded = ctypes.CDLL(str(build(tmp_path_factory.mktemp("runtime"), request.param)))
    floats = np.ctypeslib.ndpointer(np.float32, flags="C_CONTIGUOUS")
    loaded.shim_predict.argtypes = [
        ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, floats, ctypes.c_size_t, floats,
    ]  # fmt: skip
    return loaded


@pytest.fixture(scope="session")
def cases():
    """Files, inputs, and the oracle's outputs: a few models of every theme."""
    found = []
    for seed in range(N_MODELS):
        model = random_model(10_000 + seed)
        X = random_inputs(model, 200, seed)
        found.append((model_to_bytes(model), X, query(model, X)))
    return found


ISAS = {"scalar": 0, "neon": 1, "avx2": 2, "avx512": 3}
WAYS = {"batches": (200, 0, 0), "single rows": (60, 0, 1), "compact": (20, 1, 0), "compact single rows": (2, 1, 1)}


@pytest.mark.parametrize("way", WAYS)
def test_outputs(library, cases, way):
    n, compact, one_by_one = WAYS[way]
    for isa, number in ISAS.items():
        if not library.shim_isa_exists(number):
            continue
        for seed, (data, X, wanted) in enumerate(cases):
            found = np.full(wanted[:n].shape, np.nan, np.float32)
            status = library.shim_predict(data, len(data), number, compact, one_by_one, X, n, found)
            assert status == 0
            differing = int((found.view(np.int32) != wanted[:n].view(np.int32)).sum())
            assert differing == 0, f"model {seed}, {isa}: {differing} outputs of {found.size} differ"


def test_the_library_has_the_isas_of_the_installed_core(library):
    native = pytest.importorskip("repsketch._native", reason="the package was installed without its C core")
    found = {name: number for name, number in ISAS.items() if library.shim_isa_exists(number)}
    assert found == native.isas()


def test_a_bad_file_gives_its_status(library, cases):
    data, X, wanted = cases[0]
    found = np.empty_like(wanted)
    assert library.shim_predict(data[:-1], len(data) - 1, -1, 0, 0, X, 1, found) > 0


def test_isas_are_those_of_the_header():
    names = re.search(r"enum \{ (RSK_SCALAR = 0.*?) \}", (NATIVE / "rsk.h").read_text())
    assert names is not None
    words = [word.strip().split(" ")[0].removeprefix("RSK_").lower() for word in names[1].split(",")]
    assert words[:-1] == list(ISAS)
    assert set(isas_of_cmake()[0]) <= set(ISAS)
