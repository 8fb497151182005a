"""What is deployed, as data: inputs, projection, groups of rows, outputs; the oracle that evaluates it."""

from .model import Model
from .rows import RowGroup

__all__ = ["Model", "RowGroup"]
