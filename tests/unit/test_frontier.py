"""frontier: every budget once, more bytes never worse, what compress gives, peers by the same rule."""

import inspect
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import repsketch as rs
from repsketch.compare import peers as quick
from repsketch.compare.peer import PeerModel
from repsketch.errors import InputError
from repsketch.frontier import parse_budgets
from repsketch.teacher.out_of_fold import N_FOLDS
from repsketch.train import clock
from repsketch.train import search as searching
from repsketch.train.effort import SCREENING
from repsketch.train.fitter import RecipeFitter
from repsketch.train.recipes import GreedyRecipe
from support.cases import case

QUICK = {"random_state": 0, "progress": False}
X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
WAVE = np.sin(2.0 * X[:, 0]) + X[:, 1]
GREEDY = GreedyRecipe("thresholds", 0.0, n_concat=2, counter_type="int8")


@pytest.mark.parametrize("y", [WAVE, WAVE > 0.3], ids=["values", "classes"])
def test_one_budget_is_what_compress_gives(brief_training, y):
    """The same file: model, names, intervals, and the comparison with peers."""
    curve = rs.frontier(None, X, y, budgets=["300B"], **QUICK)
    sketch = rs.compress(None, X, y, budget="300B", **QUICK)
    assert len(sketch.summary.rows) == 4
    assert curve.sketches[300].to_bytes() == sketch.to_bytes()


class Counting(LinearRegression):
    n_fits = 0

    def fit(self, X, y):
        type(self).n_fits += 1
        return super().fit(X, y)


def test_the_teacher_and_its_copies_are_shared(brief_search):
    teacher = Counting().fit(X, WAVE)
    Counting.n_fits = 0
    curve = rs.frontier(teacher, X, WAVE, budgets=[100, 200, 300], **QUICK)
    assert list(curve.sketches) == [100, 200, 300]
    assert Counting.n_fits == N_FOLDS


def test_the_same_seed_gives_the_same_curve(brief_training):
    curves = [rs.frontier(None, X, WAVE, budgets=budgets, **QUICK) for budgets in ([100, 300], ["300B", 100, 300])]
    assert curves[0].rows == curves[1].rows
    assert [sketch.to_bytes() for sketch in curves[0].sketches.values()] == [
        sketch.to_bytes() for sketch in curves[1].sketches.values()
    ]


@pytest.fixture
def scripted(monkeypatch):
    """Searches that find a model of as many bytes as a table says, whatever the budget; and their options."""
    sizes, seen = {}, {}

    def search(data, budget, **options):
        seen[budget] = options
        if budget not in sizes:
            raise InputError(f"a budget of {budget} bytes: no sketch is so small.")
        return [RecipeFitter(data, sizes[budget], 0, SCREENING).fit(GREEDY)]

    monkeypatch.setattr(searching, "search", search)
    monkeypatch.setattr(quick, "fit_peers_at", lambda data, budgets, **_: {nbytes: ([], {}) for nbytes in budgets})
    return sizes, seen


def test_more_bytes_are_never_worse(scripted):
    """The search with 400 bytes finds what fits 60 bytes: the sketch of 200 bytes is taken again."""
    scripted[0].update({100: 100, 200: 200, 400: 60, 800: 800})
    curve = rs.frontier(None, X, WAVE, budgets=[100, 200, 400, 800], **QUICK)
    scores = [row["score"] for row in curve.rows]
    assert scores == sorted(scores)
    models = [sketch.model.row_groups[0].counters.tobytes() for sketch in curve.sketches.values()]
    assert models[1] == models[2]
    assert len(set(models)) == 3
    assert [row["nbytes"] for row in curve.rows] == [sketch.nbytes for sketch in curve.sketches.values()]


def test_of_equal_scores_the_smaller_loss_counts(scripted, monkeypatch):
    """Labels that one column gives away: every model has accuracy 1, and the least loss so far is taken."""
    scripted[0].update({100: 100, 200: 200, 400: 60})
    curve = rs.frontier(None, X, X[:, 0] > -0.2, budgets=[100, 200, 400], **QUICK)
    rows = [sketch.summary.rows[0] for sketch in curve.sketches.values()]
    assert rows[0]["score"] == rows[1]["score"] == rows[2]["score"]
    losses = [row["loss"] for row in rows]
    assert losses == sorted(losses, reverse=True)
    alone = rs.frontier(None, X, X[:, 0] > 0, budgets=[400], **QUICK).sketches[400].summary.rows[0]
    assert alone["score"] == rows[2]["score"]
    assert alone["loss"] > losses[2]


def test_peers_are_taken_again_by_the_same_rule(scripted, monkeypatch):
    """A peer of 200 bytes that errs by 2 where that of 100 bytes errs by 1; the next errs by 0.5."""
    errors = {100: 1.0, 200: 2.0, 400: 0.5}

    def peer(nbytes):
        outputs = lambda rows: WAVE[: len(rows), None] * 0 + rows[:, :1] + errors[nbytes]  # noqa: E731
        return PeerModel("linear", outputs, {"weights": np.zeros(nbytes, np.int8)}, loss=errors[nbytes])

    def fit(data, budgets, **_):
        return {nbytes: ([peer(nbytes)], {"int8 network": "no time left"}) for nbytes in budgets}

    monkeypatch.setattr(quick, "fit_peers_at", fit)
    scripted[0].update(dict.fromkeys(errors, 80))
    curve = rs.frontier(None, X, X[:, 0], loss="absolute_error", budgets=list(errors), **QUICK)
    rows = [row for row in curve.rows if row["model"] == "linear"]
    assert [row["nbytes"] for row in rows] == [100, 100, 400]
    assert [row["score"] for row in rows] == pytest.approx([1.0, 1.0, 0.5], rel=1e-6)
    assert "without int8 network: no time left" in str(curve)


def test_budgets_too_small_for_a_sketch_are_named(scripted):
    scripted[0].update({200: 200})
    curve = rs.frontier(None, X, WAVE, budgets=[7, 20, 200], **QUICK)
    assert (list(curve.sketches), curve.too_small) == ([200], (7, 20))
    assert "no sketch is as small as 20 bytes" in str(curve)


def test_if_all_budgets_are_too_small_that_is_an_error(scripted):
    with pytest.raises(InputError, match="a budget of 20 bytes: no sketch is so small"):
        rs.frontier(None, X, WAVE, budgets=[20, 7], **QUICK)


def test_the_time_limit_is_for_all_budgets(scripted, monkeypatch):
    """Three searches that use their time up have three quarters of it; the rest is for peers."""
    now, seen = [0.0], {}

    def search(data, budget, *, time_limit, **_):
        seen[budget] = time_limit
        now[0] += time_limit
        return [RecipeFitter(data, 80, 0, SCREENING).fit(GREEDY)]

    def fit(data, budgets, *, seed, until):
        seen["peers"] = until
        return {nbytes: ([], {}) for nbytes in budgets}

    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(sys.modules["repsketch.frontier"], "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(searching, "search", search)
    monkeypatch.setattr(quick, "fit_peers_at", fit)
    rs.frontier(lambda X: X[:, 0], X, task="regression", budgets=[100, 200, 300], time_limit=80.0, **QUICK)
    assert seen == {100: pytest.approx(20.0), 200: pytest.approx(20.0), 300: pytest.approx(20.0), "peers": 80.0}


def test_the_bar_says_the_size(scripted):
    scripted[0].update({100: 100, 2_000: 100})
    rs.frontier(None, X, WAVE, budgets=[100, 2_000], **QUICK)
    assert [options["title"] for options in scripted[1].values()] == ["searching 100 bytes", "searching 2,000 bytes"]


def test_budgets_are_sorted_and_each_is_searched_once():
    assert parse_budgets(["1KB", 1024, "256B", np.int64(300)]) == [256, 300, 1024]
    assert parse_budgets(budget for budget in ("512",)) == [512]


BAD = {
    "none": ([], "budgets is empty"),
    "one": ("4KB", "budgets='4KB'; allowed are several budgets"),
    "a number": (4096, "budgets=4096; allowed are several"),
    "a dictionary": ({"4KB": 1}, "allowed are several budgets"),
    "no budget": (["1KB", "much"], "budget='much'; allowed is"),
    "nothing": ([None], "budget=None; allowed is"),
    "zero": ([0, 100], "budget=0; allowed is"),
}


def test_bad_budgets():
    for name, (budgets, words) in BAD.items():
        with case(name), pytest.raises(InputError, match=words):
            rs.frontier(None, X, WAVE, budgets=budgets, **QUICK)


def test_other_keywords_are_those_of_compress():
    """The same names and defaults, but for the size."""
    ours, theirs = (
        {name: item.default for name, item in inspect.signature(function).parameters.items()}
        for function in (rs.frontier, rs.compress)
    )
    assert ours.pop("budgets")
    assert (theirs.pop("budget"), theirs.pop("tolerance")) == (None, None)
    assert ours == theirs


def test_the_default_path():
    """Usual effort and peers, on a product of columns: the curve rises above the linear peer, also on new rows."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(1_300, 3))
    y = rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=1_300)
    curve = rs.frontier(None, rows[:300], y[:300], budgets=["128B", "512B"], **QUICK)
    ours, linear = ([row["score"] for row in curve.rows if row["model"] == name] for name in ("sketch", "linear"))
    assert sorted(ours) == ours
    assert ours[-1] > 0.6 > 0.2 > max(linear)
    error = curve.sketches[512].predict(rows[300:]) - y[300:]
    assert 1.0 - error.var() / y[300:].var() > 0.6
    assert {row["model"] for row in curve.rows} == {"sketch", "boosted trees", "int8 network", "linear"}
    assert all(row["nbytes"] <= row["budget"] for row in curve.rows)
