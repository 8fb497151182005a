"""The runtime asks nothing of the machine but five functions that every C compiler brings along, and keeps no state."""

import platform
import shutil
import sys

import pytest

ALLOWED = {"memcpy", "memset", "memmove", "memcmp", "strlen"}
#: What __builtin_cpu_supports reads, where the runtime may choose an instruction set.
ALLOWED_X86 = {"__cpu_model", "__cpu_features2", "__cpu_indicator_init"}
#: Without what distributions switch on by default: checked copies, stack protectors, relocated constants.
FLAGS = ["-std=c99", "-O2", "-ffp-contract=off", "-fno-pic", "-fno-pie", "-fno-stack-protector", "-U_FORTIFY_SOURCE"]
WRITABLE = set("DdBbCcGgSs")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names and sections are those of ELF files")


@pytest.fixture
def symbols(run, compiler):
    """Symbols of C files compiled to objects: those each needs, those it gives, and writable ones."""
    if shutil.which("nm") is None:
        pytest.skip("no nm on this machine")

    def symbols(sources, folder, *flags):
        needed, given, writable = set(), set(), set()
        for source in sources:
            target = folder / f"{source.stem}.o"
            run(compiler, *FLAGS, *flags, "-c", source, "-o", target)
            for line in run("nm", "-P", target).splitlines():
                name, kind = line.split()[:2]
                (needed if kind in "Uw" else given).add(name)
                if kind in WRITABLE:
                    writable.add(name)
        return needed, given, writable

    return symbols


@pytest.mark.parametrize(
    "flags",
    [[], pytest.param(["-O3", "-DRSK_HAS_X86"], marks=pytest.mark.slow)],
    ids=["as in the example", "as in the package"],
)
def test_no_library_and_no_state(root, symbols, tmp_path, flags):
    if "-DRSK_HAS_X86" in flags and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("needs a compiler for x86-64")
    sources = [path for path in (root / "native").glob("rsk*.c") if path.stem != "rsk_kernel"]
    needed, given, writable = symbols(sources, tmp_path, *flags)
    vectors = {f"rsk_{kind}_{isa}" for kind in ("isa", "trainer_isa") for isa in ("avx2", "avx512")}
    allowed = ALLOWED | (ALLOWED_X86 | vectors if "-DRSK_HAS_X86" in flags else set())
    assert needed - given <= allowed
    assert writable == set()
    assert {"rsk_open", "rsk_plan_make", "rsk_predict", "rsk_predict_batch"} <= given


def test_a_library_and_state_would_be_seen(symbols, tmp_path):
    source = tmp_path / "stateful.c"
    source.write_text(
        "#include <stdlib.h>\n#include <math.h>\nstatic int n_calls;\nint next = 1;\n"
        "void *f(double x) { n_calls += next; return malloc((size_t)pow(x, 0.3) + (size_t)n_calls); }\n"
    )
    needed, _, writable = symbols([source], tmp_path)
    assert {"malloc", "pow"} <= needed
    assert {"n_calls", "next"} <= writable
