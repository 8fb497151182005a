"""On what something was measured: versions and the processor."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("repsketch", "numpy", "scipy", "scikit-learn", "torch", "onnxruntime", "lightgbm", "emlearn", "tl2cgen")


def environment() -> dict[str, Any]:
    """Python, processor and library versions, ready for JSON."""
    return {"python": platform.python_version(), "cpu": _cpu(), "libraries": _versions()}


def _versions() -> dict[str, str]:
    found = {}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {len(names)} cores" if names else platform.processor()
