"""Files: the .rsk format, its writer and its reader. ``docs/spec/format.md`` is the specification."""

from .describe import describe, describe_model
from .read import Contents, read_file, read_model
from .status import FormatError, Status
from .write import model_to_bytes

__all__ = [
    "Contents",
    "FormatError",
    "Status",
    "describe",
    "describe_model",
    "model_to_bytes",
    "read_file",
    "read_model",
]
