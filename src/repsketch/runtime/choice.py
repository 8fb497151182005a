"""Which runtime a sketch gets."""

from ..sketch import Form
from .native import NativeRuntime
from .reference import ReferenceRuntime


def runtime_for(form: Form) -> NativeRuntime | ReferenceRuntime:
    """The C core's runtime for a form, or the oracle where the C core was not built."""
    return NativeRuntime(form) if NativeRuntime.is_available() else ReferenceRuntime(form)
