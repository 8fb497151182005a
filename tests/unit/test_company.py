"""Honest company: real peers within the budget, and a verdict only beyond the noise."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import repsketch as rs
from repsketch.company import Company, verdict_on


def rows_of(points):
    return [{"name": name, "nbytes": 100, "score": float(p.mean()), "loss": 0.5} for name, p in points.items()]


@pytest.mark.parametrize(("metric", "sign"), [("accuracy", 1.0), ("MAE", -1.0)])
@pytest.mark.parametrize("lead", [0.0, 0.9, 1.1])
def test_a_verdict_only_beyond_the_noise(metric, sign, lead):
    """A peer that is better by ``lead`` times two standard errors."""
    noise = np.random.default_rng(0).normal(size=400)
    noise = (noise - noise.mean()) / noise.std()
    points = {"sketch": np.zeros(400), "boosted trees": sign * (noise + lead * 2.0 / np.sqrt(400))}
    verdict = verdict_on(metric, rows_of(points), points)
    assert (verdict is not None) == (lead > 1.0)
    if verdict:
        assert "On the 400 rows held out boosted trees" in verdict
        assert "\n" not in verdict


def test_a_peer_that_is_worse_is_not_named():
    points = {"sketch": np.ones(50), "linear": np.zeros(50), "int8 network": np.ones(50)}
    assert verdict_on("accuracy", rows_of(points), points) is None


@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes])
def test_compress_keeps_company(load, monkeypatch):
    from repsketch.tune import search

    monkeypatch.setattr(search, "CLIMBED", 6)
    X, y = load(return_X_y=True)
    summary = rs.compress(None, X, y, budget="300B", random_state=0, progress=False).summary
    assert [row["name"] for row in summary.rows] == ["sketch", "boosted trees", "int8 network", "linear"]
    assert all(0 < row["nbytes"] <= 300 for row in summary.rows)
    if load is load_breast_cancer:
        assert summary.metric == "accuracy"
        assert all(0.85 < row["score"] <= 1.0 for row in summary.rows)
    else:
        assert summary.metric == "MAE"
        assert all(row["score"] < 0.85 * np.abs(y - np.median(y)).mean() for row in summary.rows)
    assert str(summary).splitlines()[1].startswith("sketch")


def test_no_company_where_time_is_over_or_no_row_was_held_out():
    X, y = load_breast_cancer(return_X_y=True)
    late = rs.compress(None, X, y, budget="300B", time_limit=0.01, random_state=0, progress=False)
    few = rs.compress(None, X[::50], y[::50], budget="300B", time_limit=9, random_state=0, progress=False)
    assert late.summary is None
    assert few.summary is None


def test_the_verdict_is_printed_last():
    company = Company("MAE", ({"name": "sketch", "nbytes": 5, "score": 2.0, "loss": 1.0},), "Others did better.")
    assert str(company).splitlines()[-1] == "Others did better."
