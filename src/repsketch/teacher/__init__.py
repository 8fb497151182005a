"""Teachers: any trained model as a function from rows to outputs.

Takes a torch module, an object with predict_proba, decision_function or predict, a Booster, a path to an ONNX file, or
a function. Hands on a ``Teacher``, which labels rows with the float64 outputs that sketches are trained on. Adapters
are chosen by type; no library is imported before its model is given.
"""

from .adapt import as_teacher
from .reading import PROBABILITY_FLOOR
from .teacher import Teacher, TeacherOutputs

__all__ = ["PROBABILITY_FLOOR", "Teacher", "TeacherOutputs", "as_teacher"]
