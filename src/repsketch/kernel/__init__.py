"""Stage 1: the kernel model and how it is distilled from a teacher."""

from .model import KernelModel

__all__ = ["KernelModel"]
