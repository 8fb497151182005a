"""Accuracy instead of bytes: the smallest size that is enough, few searches on the way, and what is said if none is."""

from itertools import pairwise
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import repsketch as rs
from repsketch.compare.scores import as_outputs, score_of
from repsketch.compress import LARGEST_SIZE
from repsketch.errors import InputError
from repsketch.preparation import prepare
from repsketch.sizes import Found, Searches, teacher_score
from repsketch.tolerance import SIZES, bisect, loses_at_most, smallest_within
from repsketch.train import clock
from repsketch.train.budget import parse_budget
from support.cases import case

QUICK = {"random_state": 0, "progress": False}
X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)


def wave(rows):
    return np.sin(2.0 * rows[:, 0]) + rows[:, 1]


WAVE = wave(X)


class Scripted:
    """Searches that find a model of ``size(budget)`` bytes with the score ``score(budget)``, and say what was tried."""

    def __init__(self, score, size=lambda budget: budget, smallest=0, seconds=1e9):
        self.score, self.size, self.smallest = score, size, smallest
        self.tried, self.shares, self.clock = [], [], SimpleNamespace(seconds_left=seconds)

    def at(self, budget, n_left):
        self.tried.append(budget)
        self.shares.append(n_left)
        if budget < self.smallest:
            raise InputError(f"a budget of {budget} bytes: no sketch is so small.")
        self.clock.seconds_left -= 1.0
        model = SimpleNamespace(nbytes=self.size(budget))
        return Found(budget, SimpleNamespace(model=model, loss=-self.score(budget)), self.score(budget))


def test_sizes_are_from_64_bytes_to_64_kilobytes():
    assert (SIZES[0], SIZES[-1]) == (64, parse_budget(LARGEST_SIZE))
    assert max(high / low for low, high in pairwise(SIZES)) < 1.2


def test_bisection_finds_the_smallest_size_in_six_searches():
    for needed in (*SIZES, 100, 3_000, 60_000):
        with case(needed):
            searches = Scripted(lambda budget, needed=needed: float(budget >= needed))
            found = bisect(searches, lambda new: new.score == 1.0)
            enough = min(new.budget for new in found if new.score == 1.0)
            assert enough == min(size for size in SIZES if size >= needed)
            assert len(searches.tried) == len(set(searches.tried)) <= 6
            # The searches that are left share the time: never more than were announced.
            assert all(share >= len(searches.tried) - place for place, share in enumerate(searches.shares))


def test_a_model_smaller_than_its_budget_saves_searches():
    searches = Scripted(lambda budget: float(budget >= 150), size=lambda budget: min(budget, 150))
    bisect(searches, lambda new: new.score == 1.0)
    assert searches.tried[0] == 2_048
    assert max(searches.tried[1:]) < 256  # 150 bytes were enough


def test_sizes_too_small_for_a_model_are_not_enough():
    searches = Scripted(lambda budget: 1.0, smallest=700)
    found = bisect(searches, lambda new: True)
    assert min(new.budget for new in found) == 724


def test_if_no_size_is_enough_the_largest_was_tried():
    searches = Scripted(lambda budget: 0.0)
    assert bisect(searches, lambda new: False)[-1].budget == SIZES[-1]
    assert len(searches.tried) == 4


def test_if_no_size_has_a_model_the_error_is_that_of_the_largest():
    with pytest.raises(InputError, match="65536 bytes: no sketch is so small"):
        bisect(Scripted(lambda budget: 0.0, smallest=1 << 20), lambda new: True)


@pytest.mark.parametrize(("seconds", "n_tried"), [(0.0, 1), (2.0, 2), (1e9, 6)])
def test_without_time_no_further_size_is_tried(seconds, n_tried):
    searches = Scripted(lambda budget: float(budget >= 1_500), seconds=seconds)
    bisect(searches, lambda new: new.score == 1.0)
    assert len(searches.tried) == n_tried


def test_a_loss_is_in_units_of_the_score():
    assert loses_at_most(0.005, 0.965, 0.97, "accuracy")  # 0.97 - 0.965 is not 0.005 exactly
    assert not loses_at_most(0.005, 0.9649, 0.97, "accuracy")
    assert loses_at_most(0.0, 0.99, 0.97, "accuracy")
    assert loses_at_most(0.5, 13.5, 13.0, "MAE")
    assert not loses_at_most(0.5, 13.6, 13.0, "MAE")
    assert loses_at_most(0.0, 12.0, 13.0, "pinball loss")
    assert loses_at_most(0.1, -2.1, -2.0, "neg_log_loss")


class TestTeacherScore:
    """The reference is fair: of rows that the teacher was not trained on."""

    noisy: ClassVar = (X[:, 0] > 0) ^ (np.random.default_rng(1).random(400) < 0.2)

    def test_it_is_that_of_copies(self):
        tree = DecisionTreeClassifier(random_state=0).fit(X, self.noisy)
        prepared = prepare(tree, X, self.noisy, **QUICK)
        data = prepared.data
        own = np.where(tree.predict(data.X), 0.999, 0.001)[data.validation_rows, None]
        assert score_of(data, as_outputs(data, own)) == 1.0
        copies = (data.soft_labels > 0.5)[data.validation_rows, 0] == (data.labels > 0.5)[data.validation_rows, 0]
        assert teacher_score(prepared) == copies.mean() < 0.8
        assert prepared.is_unseen

    def test_without_labels_it_is_the_best_possible_one(self):
        for loss, best in (("squared_error", 1.0), ("absolute_error", 0.0)):
            prepared = prepare(lambda X: X[:, 0], X, task="regression", loss=loss, **QUICK)
            assert teacher_score(prepared) == pytest.approx(best, abs=1e-9)
        prepared = prepare(
            lambda X: np.stack([X[:, 0], X[:, 1], 0 * X[:, 2]], axis=1), X, task="classification", **QUICK
        )
        assert teacher_score(prepared) == 1.0

    def test_of_a_regression_it_is_in_its_units(self):
        prepared = prepare(lambda X: X[:, 0] + 3.0, X, X[:, 0], task="regression", loss="absolute_error", **QUICK)
        assert teacher_score(prepared) == pytest.approx(3.0, rel=1e-6)

    def test_a_metric_of_the_user(self):
        teacher = LogisticRegression().fit(X, self.noisy)
        prepared = prepare(teacher, X, self.noisy, metric="roc_auc", **QUICK)
        rows = prepared.data.validation_rows
        expected = roc_auc_score(prepared.data.labels[rows, 0] > 0.5, prepared.data.soft_labels[rows, 0])
        assert teacher_score(prepared) == pytest.approx(expected)

    def test_few_rows_are_said_to_be_seen(self, capsys, brief_search):
        y = self.noisy[:40]
        tree = DecisionTreeClassifier(random_state=0).fit(X[:40], y)
        rs.compress(tree, X[:40], y, tolerance=0.5, random_state=0)
        assert "accuracy of 1.0000 is for rows that it was trained on" in capsys.readouterr().err


def test_the_smallest_of_those_that_are_enough(brief_search):
    """Where less is asked for, the sketch is smaller; each score is within the tolerance of the teacher's."""
    sizes = []
    for tolerance in (0.1, 0.4):
        sketch = rs.compress(wave, X, tolerance=tolerance, task="regression", **QUICK)
        assert sketch.summary.rows[0]["score"] >= 1.0 - tolerance
        assert "No sketch was found" not in str(sketch.summary)
        sizes.append(sketch.nbytes)
    assert sizes[1] < sizes[0]


def test_it_is_what_a_budget_of_that_size_gives(brief_search):
    """The searches share the teacher and its copies, and are those of ``compress`` at their sizes."""
    prepared = prepare(None, X, WAVE, **QUICK)
    found, _ = smallest_within(prepared, 0.1)
    same = rs.compress(None, X, WAVE, budget=found.budget, **QUICK)
    sketch = rs.compress(None, X, WAVE, tolerance=0.1, **QUICK)
    assert sketch.model.nbytes == found.nbytes
    assert (sketch.outputs(X) == same.outputs(X)).all()


def test_a_tolerance_that_nothing_reaches(brief_search, capsys, monkeypatch):
    """The best is returned, with one line that says what was asked, what was reached, and what to do."""
    monkeypatch.setattr("repsketch.tolerance.SIZES", SIZES[:9])
    y = np.random.default_rng(2).normal(size=120)  # noise, which only its teacher knows
    known = {row.tobytes(): value for row, value in zip(X[:120], y, strict=True)}
    teacher = lambda rows: np.array([known[row.tobytes()] for row in np.asarray(rows, np.float32)])  # noqa: E731
    sketch = rs.compress(teacher, X[:120], y, task="regression", tolerance=0.01, random_state=0)
    row = sketch.summary.rows[0]
    expected = (
        "No sketch was found that loses at most 0.01 of the teacher's R2 of 1.0000: the best one has "
        f"{row['score']:.4f} in {sketch.nbytes} bytes. Raise the tolerance, the effort, or a time limit."
    )
    assert sketch.summary.conclusion == expected
    assert expected in str(sketch.summary)
    assert capsys.readouterr().err.count(f"repsketch: {expected}\n") == 1


BAD = {
    "both": ({"tolerance": 0.1, "budget": "1KB"}, "budget='1KB' and tolerance=0.1; allowed is one of them"),
    "negative": ({"tolerance": -0.1}, "tolerance=-0.1; allowed is a finite number of at least 0"),
    "NaN": ({"tolerance": float("nan")}, "tolerance=nan; allowed is"),
    "infinite": ({"tolerance": float("inf")}, "tolerance=inf; allowed is"),
    "text": ({"tolerance": "1%"}, "tolerance='1%'; allowed is"),
    "a truth value": ({"tolerance": True}, "tolerance=True; allowed is"),
}


def test_bad_input_is_refused_before_anything_is_trained(monkeypatch):
    monkeypatch.setattr("repsketch.teacher.default.train_teacher", None)
    for name, (options, words) in BAD.items():
        with case(name), pytest.raises(InputError, match=words.replace("'", ".")):
            rs.compress(None, X, WAVE, **options, **QUICK)


def test_per_cent_of_an_accuracy_are_refused():
    with pytest.raises(InputError, match=r"tolerance=1 of the accuracy; allowed is a number below 1"):
        rs.compress(lambda X: X[:, 0], X, X[:, 0] > 0, task="classification", tolerance=1, **QUICK)


def test_without_a_teacher_there_is_nothing_to_lose():
    with pytest.raises(InputError, match="there is no teacher, as none is trained for y of several columns"):
        rs.compress(None, X, X[:, :2], task="regression", tolerance=0.1, **QUICK)


def test_the_time_limit_is_for_all_searches(monkeypatch):
    """Each search takes all the time it gets: together three quarters of the limit."""
    now, limits = [0.0], []

    def search(data, budget, *, time_limit, **_):
        limits.append(time_limit)
        now[0] += time_limit
        raise InputError("no sketch is so small")

    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("repsketch.train.search.search", search)
    prepared = prepare(lambda X: X[:, 0], X, task="regression", time_limit=60.0, **QUICK)
    with pytest.raises(InputError):
        bisect(Searches(prepared), lambda new: True)
    assert limits[0] == pytest.approx(45.0 / 6)
    assert len(limits) == 4
    assert sum(limits) <= 45.0


def test_the_default_path():
    """Labels with noise, the default teacher: the sketch is as good as was asked for, on new rows, too."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(1_500, 4))
    y = (rows[:, 0] * rows[:, 1] > 0) ^ (rng.random(1_500) < 0.1)
    sketch = rs.compress(None, rows[:500], y[:500], tolerance=0.02, effort="fast", **QUICK)
    prepared = prepare(None, rows[:500], y[:500], **QUICK)
    assert sketch.summary.rows[0]["score"] >= teacher_score(prepared) - 0.02
    noise = 3 * np.sqrt(0.2 * 0.8 / 100)  # of the accuracy on 100 validation rows
    assert (sketch.predict(rows[500:]) == y[500:]).mean() >= teacher_score(prepared) - 0.02 - noise
    assert sketch.nbytes <= 1_024
