"""The oracle as a runtime: slow and plain; every other runtime is compared with it."""

from typing import Any

import numpy as np

from ..checks import check_at_least
from ..data.arrays import as_row, as_table, check_not_empty, check_width, iterate_blocks
from ..model.model import Model
from ..model.oracle import query


class ReferenceRuntime:
    """Evaluates a model in NumPy."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def outputs(self, X: Any, n_threads: int = 1) -> np.ndarray:
        """Raw outputs, float32 (n, C), for a table of inputs; ``n_threads`` is not used."""
        check_at_least("n_threads", n_threads, 1)
        table = as_table(X)
        check_width(table, self.model.n_features)
        check_not_empty(table)
        result = np.empty((table.shape[0], self.model.n_outputs), np.float32)
        accepts_missing = self.model.inputs.accepts_missing
        for start, block in iterate_blocks(table, accepts_missing=accepts_missing):
            result[start : start + len(block)] = query(self.model, block)
        return result

    def output_of(self, row: Any) -> float | np.ndarray:
        """Raw output of one row (d,): a float, or float32 (C,) where there are several."""
        outputs = self.outputs(as_row(row, self.model.n_features))[0]
        return float(outputs[0]) if self.model.n_outputs == 1 else outputs
