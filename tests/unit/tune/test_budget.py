import numpy as np
import pytest

from repsketch import KernelModel, build_sketch, lsh
from repsketch.errors import InputError
from repsketch.tune.budget import parse_budget, plan_for


@pytest.mark.parametrize(
    ("budget", "nbytes"), [(1, 1), (np.int64(5), 5), ("7", 7), ("512B", 512), ("4KB", 4096), ("1MB", 2**20)]
)
def test_budgets_in_bytes(budget, nbytes):
    assert parse_budget(budget) == nbytes


@pytest.mark.parametrize("n_features", [1, 3, 20, 123, 700])
@pytest.mark.parametrize("n_outputs", [1, 3, 10])
@pytest.mark.parametrize("nbytes", [256, 700, 1024, 4096, 65536])
def test_a_planned_sketch_fits_and_uses_its_budget(n_features, n_outputs, nbytes):
    try:
        plan = plan_for(nbytes, n_features, n_outputs)
    except InputError:
        assert nbytes < 4 * (n_features + 1 + 6 * n_outputs) + 32
        return
    kernel = KernelModel(
        points=np.zeros((2, plan.n_components), np.float32),
        weights=np.ones((2, n_outputs), np.float32),
        bias=np.zeros(n_outputs, np.float32),
        family=lsh.L2(bandwidth=1.0),
        projection=np.ones((n_features, plan.n_components), np.float32),
    )
    sketch = build_sketch(kernel, plan.n_rows, plan.n_buckets, fold="direct")
    assert sketch.nbytes <= nbytes
    # One more row would not fit, but for the cap on rows.
    assert plan.n_rows == 500 or sketch.nbytes + 4 * plan.n_buckets * n_outputs > nbytes
