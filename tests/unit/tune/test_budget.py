import numpy as np
import pytest

from repsketch.tune.budget import parse_budget


@pytest.mark.parametrize(
    ("budget", "nbytes"), [(1, 1), (np.int64(5), 5), ("7", 7), ("512B", 512), ("4KB", 4096), ("1MB", 2**20)]
)
def test_budgets_in_bytes(budget, nbytes):
    assert parse_budget(budget) == nbytes
