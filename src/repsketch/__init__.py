"""repsketch: any trained model as a few kilobytes of counters that predict by hashing."""

import logging
from typing import TYPE_CHECKING, Any

from . import lsh, theory
from .compare.comparison import Comparison
from .compress import compress
from .core import get_include
from .curve import Frontier
from .data.frames import Columns
from .errors import InputError, MergeError, MissingExtraError, RepSketchError, TeacherError
from .frontier import frontier
from .io import FormatError, Status
from .model import Model, RowGroup
from .model.counters import Counters
from .model.inputs import Inputs
from .model.intervals import Intervals
from .model.projection import Projection
from .model.stages import Stage, Stages
from .paper import KernelModel
from .paper.quantize import Change
from .sketch import CompiledSketch, KernelSketch, Sketch, build_sketch, load
from .theory import Cost

if TYPE_CHECKING:
    from .estimators import SketchClassifier, SketchRegressor
    from .paper.distill import distill

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # no output unless the program configures logging

__all__ = [
    "Change",
    "Columns",
    "Comparison",
    "CompiledSketch",
    "Cost",
    "Counters",
    "FormatError",
    "Frontier",
    "InputError",
    "Inputs",
    "Intervals",
    "KernelModel",
    "KernelSketch",
    "MergeError",
    "MissingExtraError",
    "Model",
    "Projection",
    "RepSketchError",
    "RowGroup",
    "Sketch",
    "SketchClassifier",
    "SketchRegressor",
    "Stage",
    "Stages",
    "Status",
    "TeacherError",
    "build_sketch",
    "compress",
    "distill",
    "frontier",
    "get_include",
    "load",
    "lsh",
    "theory",
]

# Training needs scikit-learn: these names are imported on first use. Module, library, and the extra with it.
_LAZY = {
    "SketchClassifier": ("estimators", "sklearn", "train"),
    "SketchRegressor": ("estimators", "sklearn", "train"),
    "distill": ("paper.distill", "scipy", "train"),
}


if not TYPE_CHECKING:  # or any name would be one to a type checker

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module 'repsketch' has no attribute {name!r}")
        from importlib import import_module

        from .errors import require

        module, library, extra = _LAZY[name]
        require(library, extra)
        value = getattr(import_module(f".{module}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
