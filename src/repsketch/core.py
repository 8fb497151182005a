"""The compiled core. Where it was not built, NumPy predicts, and ``as_hashed`` kernels cannot be trained."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import MissingExtraError, RepSketchError

#: Rows handled together, and codes a row may have, in ``native/rsk_kernel.h``; the core refuses other blocks.
KERNEL_LANES, KERNEL_MAX_CONCAT = 16, 16

try:
    native: Any = import_module("repsketch._native")
except ImportError:
    native = None


def require_native() -> Any:
    """The compiled core, or an error that says how to get it."""
    if native is None:
        raise MissingExtraError("repsketch was installed without its compiled core; reinstall it with a C compiler.")
    return native


def get_include() -> str:
    """The folder with ``rsk.h`` and the C sources, which a C program compiles with its own.

    ``rsk-config.cmake`` there is for CMake, ``rsk.pc`` for pkg-config; ``examples/c`` shows both.

    >>> from pathlib import Path
    >>> (Path(get_include()) / "rsk.h").is_file()
    True
    """
    # An editable install has two folders: the Python files of the checkout, and what the build has installed.
    folders = [Path(folder) / "native" for folder in sys.modules[__package__ or "repsketch"].__path__]
    for folder in folders:
        if (folder / "rsk.h").is_file():
            return str(folder)
    raise RepSketchError(f"rsk.h is not in {', '.join(map(str, folders))}; reinstall repsketch.")
