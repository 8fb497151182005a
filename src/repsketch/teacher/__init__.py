"""What a teacher is: stage 0 of the flow, teacher -> kernel -> sketch.

Takes anything trained: a torch module, an object with predict_proba, decision_function or predict, a Booster, a path
to an ONNX file, a function. Hands on a ``Teacher``, which labels rows with the float64 outputs that students are
trained against. Adapters are found by type; no library is imported before its model arrives.
"""

from .adapt import as_teacher
from .reading import PROBABILITY_FLOOR
from .teacher import Teacher, TeacherOutputs

__all__ = ["PROBABILITY_FLOOR", "Teacher", "TeacherOutputs", "as_teacher"]
