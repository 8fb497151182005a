"""Files: the .rsk format, its writer and its reader. ``docs/spec/format.md`` is the specification."""

from .describe import describe, describe_sketch
from .read import from_bytes, load
from .status import FormatError, Status
from .write import form_to_bytes, save, to_bytes

__all__ = [
    "FormatError",
    "Status",
    "describe",
    "describe_sketch",
    "form_to_bytes",
    "from_bytes",
    "load",
    "save",
    "to_bytes",
]
