"""Student's quantile is scipy's, without scipy."""

import numpy as np
import pytest
from scipy import stats

from repsketch.errors import InputError
from repsketch.theory.quantiles import FEWEST_FREE, student_quantile


@pytest.mark.parametrize("n_free", [FEWEST_FREE, 10, 19, 99, 499, 65_535])
def test_it_is_students(n_free):
    for confidence in (1e-6, 0.3, 0.5, 0.8, 0.95, 0.99):
        expected = stats.t.ppf(0.5 + confidence / 2, n_free)
        assert student_quantile(confidence, n_free) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.5, np.nan, "0.9", True])
def test_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(InputError, match=r"confidence=.*between 0 and 1"):
        student_quantile(confidence, 99)


@pytest.mark.parametrize("n_free", [0, 8, 9.5])
def test_too_few_rows(n_free):
    with pytest.raises(InputError, match=r"n_free=.*from 9"):
        student_quantile(0.95, n_free)
