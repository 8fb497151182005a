"""The C runtime built from ``native/`` with given optimisation, as a shared library with ``tests/parity/shim.c``."""

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"
COMPILER = shutil.which("gcc")
STRICT = ["-std=c99", "-ffp-contract=off", "-fno-math-errno", "-fPIC"]
NOT_THE_RUNTIME = ("rsk_lanes", "rsk_kernel", "rsk_trainer")  # compiled once an isa; training


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
        if not source.stem.startswith(NOT_THE_RUNTIME):
            compile_file(source, source.stem, [])
    for isa, more in isas.items():
        compile_file(NATIVE / "rsk_lanes.c", f"lanes_{isa}", [f"-DRSK_ISA_NAME={isa}", *more])
    compile_file(ROOT / "tests/parity/shim.c", "shim", [])
    library = folder / "librsk.so"
    subprocess.run([COMPILER, "-shared", *objects, "-o", str(library)], check=True)
    return library
