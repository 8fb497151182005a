"""repsketch: any trained model as a few kilobytes of counters that predict by hashing."""

import logging
from typing import TYPE_CHECKING, Any

from . import lsh, runtime, theory  # noqa: F401 - runtime: or the first prediction would pay for its import
from .comparison import Comparison
from .compress import compress
from .core import get_include
from .errors import InputError, MergeError, MissingExtraError, RepSketchError, TeacherError
from .frames import Columns
from .io import FormatError, Status, load
from .kernel import KernelModel
from .sketch import CompiledSketch, Form, KernelSketch, Sketch, build_sketch
from .sketch.counters import Counters
from .sketch.inputs import Inputs
from .sketch.intervals import Intervals
from .sketch.part import Part
from .sketch.projection import Projection
from .sketch.quantize import Change
from .theory import Cost

if TYPE_CHECKING:
    from .estimators import SketchClassifier, SketchRegressor
    from .kernel.distill import distill

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a program that asks for no log gets none

__all__ = [
    "Change",
    "Columns",
    "Comparison",
    "CompiledSketch",
    "Cost",
    "Counters",
    "Form",
    "FormatError",
    "InputError",
    "Inputs",
    "Intervals",
    "KernelModel",
    "KernelSketch",
    "MergeError",
    "MissingExtraError",
    "Part",
    "Projection",
    "RepSketchError",
    "Sketch",
    "SketchClassifier",
    "SketchRegressor",
    "Status",
    "TeacherError",
    "build_sketch",
    "compress",
    "distill",
    "get_include",
    "load",
    "lsh",
    "theory",
]

# What trains needs torch or scikit-learn; it is imported when it is first asked for.
_LAZY = {
    "SketchClassifier": ("estimators", "sklearn"),
    "SketchRegressor": ("estimators", "sklearn"),
    "distill": ("kernel.distill", "torch"),
}


if not TYPE_CHECKING:  # or any name would be one to a type checker

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module 'repsketch' has no attribute {name!r}")
        from importlib import import_module

        from .errors import require

        module, library = _LAZY[name]
        require(library, "train")
        value = getattr(import_module(f".{module}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
