"""Results of benchmarks as JSON files that tables are generated from."""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def write_result(name: str, payload: dict[str, Any]) -> Path:
    """Write ``payload`` with the versions and the machine it was measured on to results/<name>.json."""
    libraries = ("repsketch", "numpy", "scipy", "scikit-learn", "torch")
    environment = {
        "python": platform.python_version(),
        "cpu": _cpu(),
        "libraries": {library: version(library) for library in libraries},
    }
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"environment": environment, **payload}, indent=1) + "\n")
    return path


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {len(names)} cores" if names else platform.processor()
