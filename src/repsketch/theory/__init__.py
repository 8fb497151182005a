"""The paper's theorems as functions: bounds on the error of a sketch, planners, and its cost."""

from .bounds import error_bound, median_of_means_groups, spread, variance_bound
from .cost import Cost
from .planner import rows_for

__all__ = ["Cost", "error_bound", "median_of_means_groups", "rows_for", "spread", "variance_bound"]
