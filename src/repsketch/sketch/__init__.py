"""Stage 2 and the oracle of stage 3: counters, how they are built, read, refitted and quantised."""

from .build import build_sketch
from .form import Form
from .kernel_sketch import KernelSketch
from .sketch import CompiledSketch, Sketch

__all__ = ["CompiledSketch", "Form", "KernelSketch", "Sketch", "build_sketch"]
