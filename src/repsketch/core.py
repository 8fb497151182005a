"""The compiled core. Where it was not built, NumPy predicts, and ``as_hashed`` kernels cannot be trained."""

from importlib import import_module
from typing import Any

from .errors import MissingExtraError

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
