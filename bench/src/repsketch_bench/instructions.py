"""Instructions a query of our sketches, beside the operations the algorithm needs. Needs valgrind and the C sources.

valgrind does not support AVX-512, so what is counted is AVX2: 16 lanes of 16-bit numbers.
"""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from repsketch.core import get_include
from repsketch.errors import RepSketchError
from repsketch.io import model_to_bytes
from repsketch.sketch import Sketch

from .callgrind import count_instructions
from .compiled import find_compiler
from .sketches import contenders
from .teachers import load_case

LANES = 16
COUNTS = (1024, 2048)
_NATIVE = Path(get_include())
_APART = ("rsk_kernel", "rsk_trainer", "rsk_lanes")  # for training; compiled once for every instruction set
_FLAGS = ("-std=c99", "-O3", "-ffp-contract=off", "-fno-math-errno", "-DRSK_HAS_X86")
_ISAS = {
    "scalar": (),
    "avx2": ("-mavx2",),
    "avx512": ("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vbmi", "-mavx512vnni", "-mgfni"),
}


def instructions_of_case(name: str, cache: str | os.PathLike) -> dict[str, Any]:
    """For each of our int sketches of one dataset: operations, instructions in batches and row by row, and ratios."""
    case = load_case(name, cache, progress=False)
    X = case.queries(COUNTS[1])
    X = np.ascontiguousarray(np.resize(X, (COUNTS[1], X.shape[1])), np.float32)
    return {c.name: instructions_of(c.sketch, X) for c in contenders(case) if c.sketch.precision == "int"}


def instructions_of(sketch: Sketch, X: np.ndarray) -> dict[str, Any]:
    """Operations ``cost()`` counts, and instructions a query; or the reason why they could not be counted."""
    operations = sketch.cost().operations
    result: dict[str, Any] = {"operations": operations, "lanes": LANES}
    with TemporaryDirectory(prefix="repsketch-instructions-") as folder:
        try:
            objects = _compile(Path(folder))
        except (RepSketchError, OSError, subprocess.SubprocessError) as error:
            return result | {"reason": str(error)}
        (Path(folder) / "model.rsk").write_bytes(model_to_bytes(sketch.model))
        X.tofile(Path(folder) / "rows.f32")
        for way in ("batch", "row"):
            counted = count_instructions(
                Path(__file__).with_name("driver.c"),
                "run",
                flags=[f"-I{_NATIVE}", *objects],
                counts=COUNTS,
                arguments=[str(Path(folder) / "model.rsk"), str(Path(folder) / "rows.f32"), way],
            )
            if counted.per_query is None:
                return result | {"reason": counted.reason}
            result[way] = counted.per_query
    result["batch_ratio"] = result["batch"] * LANES / operations
    return result


def _compile(folder: Path) -> list[str]:
    """Object files of the runtime, with every instruction set."""
    compiler, objects = find_compiler(), []
    jobs: list[tuple[str, Path, tuple[str, ...]]] = [
        (path.stem, path, ()) for path in sorted(_NATIVE.glob("rsk*.c")) if not path.stem.startswith(_APART)
    ]
    jobs += [(f"lanes_{i}", _NATIVE / "rsk_lanes.c", (f"-DRSK_ISA_NAME={name}", *flags))
             for i, (name, flags) in enumerate(_ISAS.items())]  # fmt: skip
    for name, source, flags in jobs:
        target = folder / f"{name}.o"
        done = subprocess.run(
            [compiler, *_FLAGS, *flags, "-c", str(source), "-o", str(target)], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RepSketchError(f"{source.name} does not compile: {done.stderr.strip()[:300]}")
        objects.append(str(target))
    return objects
