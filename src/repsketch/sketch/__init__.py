"""What users hold: sketches that predict, are saved, loaded, quantised and exported."""

from .build import build_sketch
from .loading import from_bytes, load
from .sketch import CompiledSketch, KernelSketch, Sketch

__all__ = ["CompiledSketch", "KernelSketch", "Sketch", "build_sketch", "from_bytes", "load"]
