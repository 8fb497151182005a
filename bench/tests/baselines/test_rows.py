import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch_bench.baselines import Compared
from repsketch_bench.baselines.rows import Rows


def test_split_loses_no_row_and_repeats_none():
    X = np.arange(30.0)[:, None]
    rows = Rows.split(X, X[:, 0], "regression", random_state=3)
    together = np.concatenate([rows.y_train, rows.y_valid])
    assert sorted(together) == list(range(30))
    assert len(rows.y_valid) == 6
    np.testing.assert_array_equal(rows.X_train[:, 0], rows.y_train)
    assert not np.array_equal(rows.train_places, Rows.split(X, X[:, 0], "regression", random_state=4).train_places)


def test_given_validation_rows_are_used_as_they_are():
    rows = Rows.split([[1.0], [2.0]], [0, 1], "classification", ([[3.0]], [1]))
    assert rows.X_train.tolist() == [[1.0], [2.0]]
    assert (rows.X_valid.tolist(), rows.y_valid.tolist()) == ([[3.0]], [1.0])


def test_error_and_the_best_model():
    rows = Rows.split([[1.0], [2.0]], [0, 1], "classification", ([[-1.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]))
    assert rows.error(np.array([-1.0, 1.0, 1.0, 1.0])) == 0.25
    assert rows.error(np.zeros(4)) == 0.5
    models = [Compared(str(sign), lambda X, sign=sign: sign * X[:, 0], 1, 1, 4, {"sign": sign}) for sign in (-1, 1)]
    assert rows.best(models).settings == {"sign": 1, "n_tried": 2, "validation_error": 0.25}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], [1], "guessing"), "task='guessing'; allowed are"),
        (([[1.0], [2.0]], [1, 2], "classification"), r"holds \[1.0, 2.0\]; allowed are the classes 0 and 1"),
        (([[1.0]] * 5, [1] * 5, "classification"), "class 1 alone; allowed are both"),
        (([[1.0]], [1.0], "regression"), "1 row; to train and to validate takes at least 2"),
        (([[1.0]] * 5, np.ones((5, 2)), "regression"), "2 columns; allowed is one"),
        (([[1.0]] * 5, [1.0] * 4, "regression"), "one row for each row of X"),
        (([[np.nan]] * 5, [1.0] * 5, "regression"), "NaN at row 0"),
        (([[1.0]] * 5, [1.0] * 5, "regression", ([[1.0, 2.0]], [1.0])), "2 features, but this model takes 1"),
        (([[1.0]] * 5, [1.0] * 5, "regression", None, -1), "random_state=-1; allowed"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Rows.split(*arguments)
