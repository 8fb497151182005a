"""``repsketch curve``: its files, its table, and one line for every bad input."""

import json
import os
import re
import sys

import numpy as np
import pytest

import repsketch as rs
from repsketch.data.tables import read_table
from repsketch.teacher.default import default_teacher
from support.cases import case

pytestmark = pytest.mark.usefixtures("brief_search")

FILES = ["curve.json", "curve.png", "curve.svg", "model-300.rsk", "model-512.rsk"]


@pytest.fixture
def options(people, tmp_path):
    return ("curve", "--train", people, "-t", "income", "--budgets", "512B, 300", "-o", tmp_path / "new" / "out")


def test_files(run, options, people, tmp_path):
    pytest.importorskip("matplotlib")
    result = run(*options)
    assert (result.code, result.err) == (0, "")
    folder = tmp_path / "new" / "out"
    assert sorted(os.listdir(folder)) == FILES
    summary = json.loads((folder / "curve.json").read_text())
    assert (summary["task"], summary["metric"], summary["target"]) == ("classification", "accuracy", "income")
    assert (summary["scored_on"], summary["n_rows"], summary["too_small"]) == ("validation rows", 100, [])
    assert summary["teacher"]["name"] == "gradient-boosted trees, trained here"
    assert 0.7 < summary["teacher"]["score"] <= 1.0
    assert [(row["model"], row["budget"]) for row in summary["rows"]] == [("sketch", 300), ("sketch", 512)]
    assert sorted(summary["files"]) == [str(folder / name) for name in FILES]
    for row in summary["rows"]:
        sketch = rs.load(folder / f"model-{row['budget']}.rsk")
        assert sketch.nbytes == row["nbytes"] <= row["budget"]
        assert sketch.summary.rows[0]["score"] == row["score"] > 0.8
        for shown in (f"{row['score']:.4f}", f"{row['nbytes']}", "classification of income", "model-300.rsk"):
            assert shown in result.out
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (folder / "curve.svg").read_bytes()
    again = (folder / "curve.svg").read_bytes()
    run(*options)
    assert (folder / "curve.svg").read_bytes() == again  # no date, no random names


def test_it_is_the_curve_of_the_library(run, options, people):
    facts = json.loads(run(*options, "--json", "--class-weight", "balanced", "--effort", "normal", "--seed", 3).out)
    table = read_table(people, "income")
    teacher = default_teacher(table.X, table.y, None, seed=3, progress=False)
    settings = {"class_weight": "balanced", "random_state": 3, "progress": False}
    curve = rs.frontier(teacher, table.X, table.y, budgets=[300, 512], **settings)
    assert facts["rows"] == curve.rows
    assert facts["teacher"]["score"] == curve.teacher_score


def test_without_matplotlib_there_is_no_plot(run, options, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(*options)
    assert result.code == 0
    assert "no plot, as matplotlib is not installed; run: pip install 'repsketch[plot]'" in result.out
    assert sorted(os.listdir(tmp_path / "new" / "out")) == [FILES[0], *FILES[3:]]


def test_a_model_and_no_target(run, tmp_path, save_onnx):
    X = np.random.default_rng(4).normal(size=(300, 2)).astype(np.float32)
    np.savez(tmp_path / "rows.npz", X=X)
    model = save_onnx(tmp_path / "m.onnx", np.array([[5.0], [1.0]]))
    result = run("curve", model, tmp_path / "rows.npz", "-b", "100,9", "-o", tmp_path / "out", "--json")
    facts = json.loads(result.out)
    assert (facts["metric"], facts["teacher"]) == ("R2", {"name": "m.onnx", "score": 1.0})
    assert (facts["too_small"], facts["target"]) == ([9], None)


def test_the_time_limit_leaves_rows_out(run, options, monkeypatch):
    monkeypatch.setattr("repsketch.cli.tables._MIN_ROWS", 120)
    result = run(*options, "--time-limit", "0.0001", "--json")
    facts = json.loads(result.out)
    assert (facts["n_left_out"], facts["n_rows"]) == (380, 24)


BAD = {
    "no budgets": (["-b", ","], "budgets is empty"),
    "a budget": (["-b", "1KB,4 kg"], "budget=' 4 kg'|budget='4 kg'"),
    "too small": (["-b", "3,5"], "a budget of 5 bytes"),
    "a metric": (["--metric", "roc_auk"], "did you mean 'roc_auc'"),
    "an effort": (["--effort", "much"], "effort='much'; allowed are"),
    "a time limit": (["--time-limit", "-1"], "time_limit=-1.0"),
    "an unknown target": (["-t", "wage"], "has no column 'wage'"),
    "no such task": (["--task", "ranking"], "task='ranking'"),
}


def test_one_line_and_code_2(run, options, tmp_path):
    for name, (more, words) in BAD.items():
        with case(name):
            result = run(*options, *more)
            assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
            assert re.search(words, result.err)
            assert os.listdir(tmp_path) == []


def test_what_the_first_argument_may_be(run, tmp_path):
    result = run("curve", "data.csv", "-o", tmp_path / "out")
    assert result.code == 2
    assert "curve was given 'data.csv'; allowed is MODEL DATA" in result.err
    assert "--train with several files" in run("curve", "--train", "a.onnx", "b.csv").err
    assert "--train needs --target" in run("curve", "--train", table_without_target(tmp_path), "-o", tmp_path / "o").err


def table_without_target(folder):
    (folder / "t.csv").write_text("a,b\n1,2\n3,4\n")
    return folder / "t.csv"
