"""What every compared method hands back: a function of raw inputs and what it costs to store and to run.

The sketch is compared with models of the same size, each tuned with the same effort: a handful of settings, tried on
the validation rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Compared:
    """A fitted model of one output.

    Attributes
    ----------
    name : of the method
    predict : raw inputs (n, d) float32 -> (n,) log-odds of class 1, or values
    n_numbers : numbers stored, as the paper counts them; a zero that is not stored does not count
    flops : multiply-adds of one prediction, as fvcore counts them: matrix products alone
    nbytes : bytes as deployed: float32 unless the method says otherwise, with indices where entries are left out
    settings : what was chosen; "n_tried" settings were compared, the best had "validation_error"

    >>> half = Compared("half", lambda X: 0.5 * X[:, 0], n_numbers=1, flops=1, nbytes=4)
    >>> half.predict(np.ones((2, 3), np.float32)).tolist()
    [0.5, 0.5]
    """

    name: str
    predict: Callable[[np.ndarray], np.ndarray]
    n_numbers: int
    flops: int
    nbytes: int
    settings: dict[str, Any] = field(default_factory=dict)
