"""Stage 2 and the oracle of stage 3: counters, how they are built, read and refitted."""

from .build import build_sketch
from .sketch import Sketch

__all__ = ["Sketch", "build_sketch"]
