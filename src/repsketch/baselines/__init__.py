"""Models that sketches are compared with or made from, properly trained."""

from .mlp import train_mlp

__all__ = ["train_mlp"]
