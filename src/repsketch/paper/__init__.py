"""The paper's stages: a kernel model distilled from a teacher, its counters, their refit and quantisation."""

from .kernel_model import KernelModel

__all__ = ["KernelModel"]
