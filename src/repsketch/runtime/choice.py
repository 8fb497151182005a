"""Which runtime a sketch gets."""

from ..model.model import Model
from .native import NativeRuntime
from .reference import ReferenceRuntime


def runtime_for(model: Model) -> NativeRuntime | ReferenceRuntime:
    """The C core's runtime for a model, or the oracle where the C core was not built."""
    return NativeRuntime(model) if NativeRuntime.is_available() else ReferenceRuntime(model)
