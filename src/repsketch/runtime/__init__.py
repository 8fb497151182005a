"""Stage 3: what evaluates a sketch. The C core where it is there, else the NumPy oracle; the same bits either way."""

from .choice import runtime_for

__all__ = ["runtime_for"]
