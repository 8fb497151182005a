"""The comparison with other models of the same bytes: always there, honest, and stored in the file."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import repsketch as rs
from repsketch.compare import peers as quick
from repsketch.compare.compare import conclude
from repsketch.compare.comparison import Comparison

NAMES = ["sketch", "boosted trees", "int8 network", "linear"]


def rows_of(points, nbytes=None):
    sizes = nbytes or {}
    return [
        {"name": name, "nbytes": sizes.get(name, 100), "score": float(p.mean()), "loss": 0.5}
        for name, p in points.items()
    ]


@pytest.mark.parametrize(("metric", "sign"), [("accuracy", 1.0), ("MAE", -1.0)])
@pytest.mark.parametrize("lead", [0.0, 0.9, 1.1])
def test_a_peer_is_better_only_beyond_the_noise(metric, sign, lead):
    """A peer that is better by ``lead`` times two standard errors."""
    noise = np.random.default_rng(0).normal(size=400)
    noise = (noise - noise.mean()) / noise.std()
    points = {"sketch": np.zeros(400), "boosted trees": sign * (noise + lead * 2.0 / np.sqrt(400))}
    conclusion = conclude(metric, rows_of(points), points)
    assert (conclusion is not None) == (lead > 1.0)
    if conclusion:
        assert "On 400 rows boosted trees" in conclusion
        assert "did better than the sketch" in conclusion
        assert "\n" not in conclusion


def test_a_peer_that_is_worse_is_not_named():
    points = {"sketch": np.ones(50), "linear": np.zeros(50), "int8 network": np.ones(50)}
    assert conclude("accuracy", rows_of(points), points) is None


@pytest.mark.parametrize(("nbytes", "is_named"), [(43, True), (260, True), (280, False), (400, False)])
def test_a_peer_that_is_as_good_is_named_if_it_is_smaller(nbytes, is_named):
    points = {"sketch": np.ones(50), "linear": np.ones(50), "int8 network": np.ones(50)}
    conclusion = conclude("accuracy", rows_of(points, {"sketch": 292, "linear": nbytes, "int8 network": 291}), points)
    assert (conclusion is not None) == is_named
    if conclusion:
        assert f"linear (accuracy 1.0000, {nbytes} bytes) did as well as the sketch" in conclusion
        assert "is smaller" in conclusion
        assert "int8" not in conclusion


def test_a_smaller_peer_that_is_a_little_worse_is_not_as_good():
    points = {"sketch": np.ones(400), "linear": np.concatenate([np.zeros(3), np.ones(397)])}
    assert conclude("accuracy", rows_of(points, {"linear": 10}), points) is None


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes])
def test_compress_as_shipped_compares(load):
    check_compress_compares(load)


@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes])
def test_compress_compares(load, brief_training):
    check_compress_compares(load)


def check_compress_compares(load):
    X, y = load(return_X_y=True)
    summary = rs.compress(None, X, y, budget="300B", random_state=0, progress=False).summary
    assert [row["name"] for row in summary.rows] == NAMES
    assert all(0 < row["nbytes"] <= 300 for row in summary.rows)
    assert (summary.scored_on, summary.n_rows) == ("validation", len(y) // 5)
    if load is load_breast_cancer:
        assert summary.metric == "accuracy"
        assert all(0.85 < row["score"] <= 1.0 for row in summary.rows)
    else:
        assert summary.metric == "R2"
        assert all(row["score"] < 0.85 * np.abs(y - np.median(y)).mean() for row in summary.rows)
    assert str(summary).splitlines()[1].startswith("sketch")


def test_a_line_that_is_as_good_is_said_to_be(brief_training):
    """What the README promises: where a linear model is as good, ``summary`` says so."""
    X = np.random.default_rng(0).normal(size=(600, 4))
    X[:, 0] += 0.5 * np.sign(X[:, 0])  # a gap that int8 weights hit
    summary = rs.compress(None, X, X[:, 0] > 0, budget="300B", random_state=0, progress=False).summary
    assert "linear" in summary.conclusion
    assert "did as well as the sketch" in summary.conclusion or "did better than the sketch" in summary.conclusion


def test_a_comparison_without_time_leaves_the_network_out():
    X, y = load_breast_cancer(return_X_y=True)
    summary = rs.compress(None, X, y, budget="300B", time_limit=0.01, random_state=0, progress=False).summary
    assert [row["name"] for row in summary.rows] == ["sketch", "boosted trees", "linear"]
    assert summary.left_out == {"int8 network": "no time left"}
    assert "without int8 network: no time left" in str(summary)


def test_few_rows_are_compared_on_those_they_were_trained_on(brief_training):
    X, y = load_breast_cancer(return_X_y=True)
    summary = rs.compress(None, X[::50], y[::50], budget="300B", random_state=0, progress=False).summary
    assert (summary.scored_on, summary.n_rows) == ("training", 12)
    assert "scored on the training rows" in str(summary)


def test_a_comparison_is_stored_in_the_file(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    sketch = rs.compress(None, X, y, budget="300B", time_limit=0.01, random_state=0, progress=False)
    sketch.save(tmp_path / "model.rsk", {"made by": "me"})
    again = rs.load(tmp_path / "model.rsk")
    assert again.summary == sketch.summary
    again.save(tmp_path / "again.rsk", {"made by": "me"})
    assert (tmp_path / "again.rsk").read_bytes() == (tmp_path / "model.rsk").read_bytes()


BAD = [
    None, [], {}, {"metric": 1}, {"rows": []}, {"rows": [{}]}, {"rows": [{"name": "x", "nbytes": "1"}]}, {"verdict": 3},
    {"rows": [{"name": "a", "nbytes": 1, "score": True, "loss": 0.0}]}, {"n_rows": -1}, {"left_out": {"a": 3}},
    {"rows": [{"name": "a", "nbytes": 1, "score": 0.0, "loss": 0.0}] * 17}, {"quantile": 1.0}, {"quantile": "0.5"},
]  # fmt: skip


@pytest.mark.parametrize("change", BAD, ids=map(str, range(len(BAD))))
def test_what_a_file_says_is_checked(change):
    good = Comparison("MAE", ({"name": "sketch", "nbytes": 5, "score": 2.0, "loss": 1.0},), None).to_dict()
    assert Comparison.from_dict(json.loads(json.dumps(good))).to_dict() == good
    assert Comparison.from_dict(good | change if isinstance(change, dict) and change else change) is None


def test_the_level_of_a_quantile_is_stored():
    rows = ({"name": "sketch", "nbytes": 5, "score": 2.0, "loss": 1.0},)
    with_level, without = (Comparison("pinball loss", rows, None, left_out={}, quantile=q) for q in (0.9, None))
    assert Comparison.from_dict(with_level.to_dict()) == with_level
    assert "quantile" not in without.to_dict()
    assert Comparison.from_dict(without.to_dict()) == without


@pytest.mark.parametrize("kind", ["Boosted", "Linear"])
def test_a_peer_that_cannot_be_fitted_is_left_out_and_named(kind, monkeypatch):
    class Broken(getattr(quick, kind)):
        def fit(self, shape, settings):
            raise RuntimeError("Check failed: (train_data->num_features()) > (0)")

    monkeypatch.setattr(quick, kind, Broken)
    X, y = load_breast_cancer(return_X_y=True)
    summary = rs.compress(None, X, y, budget="300B", time_limit=0.01, random_state=0, progress=False).summary
    assert summary.left_out[Broken.name] == "RuntimeError: Check failed: (train_data->num_features()) > (0)"
    assert Broken.name not in [row["name"] for row in summary.rows]


@pytest.mark.parametrize(("n_rows", "n_classes"), [(3, 2), (8, 3), (30, 2)])
def test_libraries_of_peers_are_quiet_on_few_rows(n_rows, n_classes, brief_training, capfd):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    X[:, 1] = 7.0
    sketch = rs.compress(None, X, np.arange(n_rows) % n_classes, budget="512B", random_state=0, progress=False)
    assert sketch.summary.rows[0]["name"] == "sketch"
    assert capfd.readouterr() == ("", "")


def test_scikit_learn_grows_the_trees_where_lightgbm_is_missing(monkeypatch):
    monkeypatch.setattr(quick, "find_spec", lambda name: None)
    X, y = load_breast_cancer(return_X_y=True)
    summary = rs.compress(None, X, y, budget="300B", time_limit=0.01, random_state=0, progress=False).summary
    trees = summary.rows[1]
    assert trees["name"] == "boosted trees"
    assert trees["nbytes"] <= 300
    assert trees["score"] > 0.85


def test_no_lightgbm_at_all():
    """In a process that cannot import it, as where it is not installed."""
    program = (
        "import sys; sys.modules['lightgbm'] = None\n"
        "import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'lightgbm' else find(name, *rest)\n"
        "import numpy as np, repsketch as rs\n"
        "X = np.random.default_rng(0).normal(size=(80, 2))\n"
        "print([row['name'] for row in rs.compress(None, X, X[:, 0] > 0, budget='256B', time_limit=0.01,"
        " random_state=0, progress=False).summary.rows])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['sketch', 'boosted trees', 'linear']"


def test_the_conclusion_is_printed_last():
    rows = ({"name": "sketch", "nbytes": 5, "score": 2.0, "loss": 1.0},)
    assert str(Comparison("MAE", rows, "Others did better.")).splitlines()[-1] == "Others did better."
