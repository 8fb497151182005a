"""The C runtime as other compilers' settings make it: without optimisation, with some, with all. The same bits.

Built from ``native/`` alone, as a user of the C library would, and called through a shim.
"""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from repsketch.io import model_to_bytes
from repsketch.model.oracle import query
from support.models import THEMES, random_inputs, random_model

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"
COMPILER = shutil.which("gcc")
STRICT = ["-std=c99", "-ffp-contract=off", "-fno-math-errno", "-fPIC"]
NOT_THE_RUNTIME = {"rsk_lanes.c", "rsk_kernel.c"}  # compiled once an isa; training
N_FORMS = 5 * len(THEMES)

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no gcc on this machine")


def isas_of_cmake() -> tuple[dict[str, list[str]], list[str]]:
    """Flags of every instruction set, and the definitions that go with them, as rsk-config.cmake has them."""
    text = (NATIVE / "rsk-config.cmake").read_text()
    machine = subprocess.run([COMPILER, "-dumpmachine"], capture_output=True, text=True, check=True).stdout
    family = {"x86_64": "X86", "aarch64": "NEON"}.get(machine.split("-")[0])
    there = {"scalar", *{"X86": ("avx2", "avx512"), "NEON": ("neon",)}.get(family, ())}
    added = re.findall(r"^\s*add_isa\((\w+)\s*(.*)\)", text, re.MULTILINE)
    isas = {name: flags.split() for name, flags in added if name in there}
    definitions = []
    if family is not None:
        definitions = [f"-DRSK_HAS_{family}"]
        assert f"RSK_HAS_{family}" in text
    return isas, definitions


def build(folder: Path, optimisation: str) -> Path:
    """The runtime with the shim as a shared library."""
    isas, definitions = isas_of_cmake()
    flags = [optimisation, *STRICT, *definitions, f"-I{NATIVE}"]
    objects: list[str] = []

    def compile_file(source: Path, name: str, more: list[str]) -> None:
        objects.append(str(folder / f"{name}.o"))
        subprocess.run([COMPILER, *flags, *more, "-c", str(source), "-o", objects[-1]], check=True)

    for source in sorted(NATIVE.glob("rsk*.c")):
        if source.name not in NOT_THE_RUNTIME:
            compile_file(source, source.stem, [])
    for isa, more in isas.items():
        compile_file(NATIVE / "rsk_lanes.c", f"lanes_{isa}", [f"-DRSK_ISA_NAME={isa}", *more])
    compile_file(Path(__file__).parent / "shim.c", "shim", [])
    library = folder / "librsk.so"
    subprocess.run([COMPILER, "-shared", *objects, "-o", str(library)], check=True)
    return library


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
    for seed in range(N_FORMS):
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
