"""Labels: how many different ones are classes."""

import numpy as np
import pytest

from repsketch.data.targets import read_labels
from repsketch.errors import InputError


@pytest.mark.parametrize(("n_rows", "n_classes", "is_accepted"), [(100, 50, True), (100, 51, False), (25, 20, True)])
def test_labels_that_mostly_occur_once_are_no_classes(n_rows, n_classes, is_accepted):
    y = np.array([f"label {i % n_classes}" for i in range(n_rows)])
    if is_accepted:
        assert len(read_labels(y, n_rows, None, None)[2]) == n_classes
        return
    with pytest.raises(InputError, match="these are no classes"):
        read_labels(y, n_rows, None, None)
