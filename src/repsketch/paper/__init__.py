"""Stage 1: the kernel model and how it is distilled from a teacher."""

from .kernel_model import KernelModel

__all__ = ["KernelModel"]
