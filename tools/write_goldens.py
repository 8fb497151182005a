"""Write tests/format/golden: files of this format version, and what they must still read as in every later version.

Goldens stay as they are: readers of later versions must give the same outputs. A test never writes goldens; this tool
adds missing ones, and rewrites existing ones only with --overwrite.

    python tools/write_goldens.py [--overwrite]
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "format" / "golden"
sys.path[:0] = [str(ROOT / "tests")]

from repsketch.io import describe  # noqa: E402
from repsketch.io.framing import FORMAT_VERSION  # noqa: E402
from repsketch.model.oracle import query  # noqa: E402
from repsketch.sketch import from_bytes  # noqa: E402
from support.rsk.build import float_file, integer_file, kernel_file, short_file  # noqa: E402
from support.rsk.stages import stages_file  # noqa: E402

N_INPUTS = 12


def main() -> None:
    """Write the files and one table of what they hold."""
    is_forced = sys.argv[1:] == ["--overwrite"]
    table = FOLDER / f"v{FORMAT_VERSION}.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = {"": integer_file(), "-float32": float_file(), "-sums": kernel_file(), "-short": short_file()}
    files["-stages"] = stages_file()
    found = [] if is_forced or not table.exists() else json.loads(table.read_text())
    known = {entry["file"] for entry in found}
    for seed, (suffix, data) in enumerate(files.items()):
        name = f"v{FORMAT_VERSION}{suffix}.rsk"
        if name not in known:
            found.append(_entry(name, data, seed))
    table.write_text("[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in found) + "\n]\n")


def _entry(name: str, data: bytes, seed: int) -> dict:
    (FOLDER / name).write_bytes(data)
    model = from_bytes(data).model
    X = np.random.default_rng(seed).normal(0, 2, (N_INPUTS, model.n_features)).astype(np.float32)
    if model.inputs.accepts_missing:
        X[-1, 0] = np.nan
    return {
        "file": name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "facts": describe(FOLDER / name),
        "inputs": _bits(X),
        "outputs": _bits(query(model, X)),
    }


def _bits(array: np.ndarray) -> list[list[str]]:
    """The bit patterns of float32 numbers, as hexadecimal digits."""
    return [[f"{int(word):08x}" for word in row] for row in np.ascontiguousarray(array, np.float32).view(np.uint32)]


if __name__ == "__main__":
    main()
