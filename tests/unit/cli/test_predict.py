"""``repsketch predict``: the library's predictions, on the screen and in files."""

import io
import json
import os
import sys

import numpy as np
import pandas
import polars
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import mean_pinball_loss, r2_score, roc_auc_score

import repsketch as rs
from repsketch.cli.predict import Predictions


@pytest.fixture(scope="module")
def model(compressed):
    return compressed[0] / "model.rsk"


@pytest.fixture(scope="module")
def expected(model, people):
    """The library's predictions for the same table, read by another reader."""
    frame = pandas.read_csv(people, na_values=["?"], dtype={"zip": str})
    sketch = rs.load(model)
    return sketch.predict(frame), sketch.predict_proba(frame), frame["income"].to_numpy(str)


def test_csv_on_the_screen(run, model, people, expected):
    result = run("predict", model, people)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == ["prediction", *expected[0]]


def test_probabilities(run, model, people, expected):
    printed = polars.read_csv(io.StringIO(run("predict", model, people, "--proba").out))
    assert printed.columns == ["prediction", "probability_high", "probability_low"]
    assert printed["prediction"].to_list() == expected[0].tolist()
    np.testing.assert_allclose(printed[:, 1:].to_numpy(), expected[1], rtol=1e-6)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_table_as_a_file(run, model, people, expected, tmp_path, name):
    result = run("predict", model, people, "--proba", "-o", tmp_path / name)
    assert (result.code, result.out, result.err) == (0, "", "")
    frame = (polars.read_csv if name == "out.csv" else polars.read_parquet)(tmp_path / name)
    assert frame["prediction"].to_list() == expected[0].tolist()
    np.testing.assert_allclose(frame["probability_low"].to_numpy(), expected[1][:, 1], rtol=1e-6)


def test_arrays_as_a_file(run, model, people, expected, tmp_path):
    run("predict", model, people, "-o", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as arrays:
        assert arrays.files == ["predictions"]
    run("predict", model, people, "--proba", "-o", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as arrays:
        np.testing.assert_array_equal(arrays["predictions"], expected[0])
        np.testing.assert_array_equal(arrays["probabilities"], expected[1])
        assert arrays["classes"].tolist() == ["high", "low"]


def test_a_score(run, model, people, expected, tmp_path):
    accuracy = (expected[0] == expected[2]).mean()
    result = run("predict", model, people, "--target", "income")
    assert result.err == f"accuracy {accuracy:.4f} on 500 rows\n"
    assert result.out.splitlines() == ["prediction", *expected[0]]
    result = run("predict", model, people, "--target", "income", "--json", "-o", tmp_path / "out.csv")
    facts = json.loads(result.out)
    assert facts == {"n_rows": 500, "metric": "accuracy", "score": accuracy, "output": str(tmp_path / "out.csv")}


def test_json(run, model, people, expected):
    facts = json.loads(run("predict", model, people, "--json", "--proba").out)
    assert facts["predictions"] == expected[0].tolist()
    assert facts["probabilities"] == expected[1].tolist()
    assert facts["classes"] == ["high", "low"]


def test_columns_are_found_by_name(run, model, people, expected, tmp_path):
    frame = polars.read_csv(people, schema_overrides={"zip": polars.String}, null_values="?")
    frame.select("zip", "member", polars.lit(1).alias("extra"), "job", "age").write_csv(tmp_path / "other.csv")
    assert run("predict", model, tmp_path / "other.csv").out.splitlines()[1:] == expected[0].tolist()
    one = frame.with_columns(polars.lit("001").alias("zip"))  # a label that looks like a number
    one.write_csv(tmp_path / "one.csv")
    assert run("predict", model, tmp_path / "one.csv").out.splitlines()[1:] == rs.load(model).predict(one).tolist()


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A regressor of three columns without names, and rows for it."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 2] = 0.0
    sketch = rs.compress(None, X, 2 * X[:, 0], budget="256B", random_state=0, time_limit=1, progress=False)
    path = tmp_path_factory.mktemp("numbers") / "numbers.rsk"
    sketch.save(path)
    return path, X, sketch.predict(X)


def test_arrays_and_sparse_rows(run, numbers, tmp_path):
    path, X, predicted = numbers
    np.savez(tmp_path / "rows.npz", X=X, y=X[:, 0])
    dump_svmlight_file(X, 2 * X[:, 0], str(tmp_path / "rows.svm"))  # its last column is empty, so the file is narrower
    doubled, plain = r2_score(2 * X[:, 0], predicted), r2_score(X[:, 0], predicted)
    for name, target, expected in (("rows.svm", "label", doubled), ("rows.npz", "y", plain)):
        facts = json.loads(run("predict", path, tmp_path / name, "--target", target, "--json").out)
        assert facts["predictions"] == predicted.tolist()
        assert facts["metric"] == rs.load(path).summary.metric == "R2"
        assert facts["score"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "score"),
    [
        (
            {"loss": "quantile", "quantile": 0.8},
            lambda y, sketch, X: mean_pinball_loss(y, sketch.predict(X), alpha=0.8),
        ),
        ({"loss": "absolute_error"}, lambda y, sketch, X: np.abs(y - sketch.predict(X)).mean()),
        ({"metric": "neg_max_error"}, lambda y, sketch, X: -np.abs(y - sketch.predict(X)).max()),
        ({"metric": "roc_auc"}, lambda y, sketch, X: roc_auc_score(y, sketch.predict_proba(X)[:, 1])),
    ],
    ids=["pinball loss", "MAE", "neg_max_error", "roc_auc"],
)
def test_the_score_is_that_of_the_summary(run, tmp_path, brief_search, options, score):
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = X[:, 0] > 0.5 if options.get("metric") == "roc_auc" else X[:, 0]
    rs.compress(None, X, y, budget=100, random_state=0, progress=False, **options).save(tmp_path / "model.rsk")
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    facts = json.loads(run("predict", tmp_path / "model.rsk", tmp_path / "rows.npz", "--target", "y", "--json").out)
    sketch = rs.load(tmp_path / "model.rsk")
    assert facts["metric"] == sketch.summary.metric
    assert facts["score"] == pytest.approx(score(y, sketch, X), rel=1e-6)


def test_a_density_is_scored_by_its_errors(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 1))
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=4, n_features=1).add(X)
    density.save(tmp_path / "d.rsk")
    np.savez(tmp_path / "rows.npz", X=X, y=density.predict(X) + 2.0)
    facts = json.loads(run("predict", tmp_path / "d.rsk", tmp_path / "rows.npz", "--target", "y", "--json").out)
    assert (facts["metric"], facts["score"]) == ("MAE", pytest.approx(2.0))


def test_intervals(run, numbers, tmp_path):
    path, X, predicted = numbers
    np.savez(tmp_path / "rows.npz", X=X)
    low, high = rs.load(path).predict_interval(X, confidence=0.9)
    options = (path, tmp_path / "rows.npz", "--interval", "--confidence", "0.9")
    frame = polars.read_csv(io.StringIO(run("predict", *options).out))
    assert frame.columns == ["prediction", "low", "high"]
    np.testing.assert_array_equal(frame["low"], low)
    facts = json.loads(run("predict", *options, "--json").out)
    assert (facts["low"], facts["high"], facts["predictions"]) == (low.tolist(), high.tolist(), predicted.tolist())
    for name, read in (("o.csv", polars.read_csv), ("o.parquet", polars.read_parquet), ("o.npz", np.load)):
        assert run("predict", *options, "-o", tmp_path / name).code == 0
        np.testing.assert_array_equal(read(tmp_path / name)["high"], high)
    usual = json.loads(run("predict", path, tmp_path / "rows.npz", "--interval", "--json").out)
    assert usual["low"] == rs.load(path).predict_interval(X, confidence=0.95)[0].tolist()


def test_intervals_of_several_values(run, tmp_path):
    X = np.random.default_rng(1).normal(size=(40, 2))
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=50, n_buckets=8, n_features=2, n_outputs=2)
    density.add(X, np.ones((40, 2)), progress=False).save(tmp_path / "d.rsk")
    np.savez(tmp_path / "rows.npz", X=X)
    frame = polars.read_csv(io.StringIO(run("predict", tmp_path / "d.rsk", tmp_path / "rows.npz", "--interval").out))
    assert frame.columns == ["prediction_0", "prediction_1", "low_0", "low_1", "high_0", "high_1"]
    np.testing.assert_array_equal(frame["high_1"], rs.load(tmp_path / "d.rsk").predict_interval(X)[1][:, 1])


def test_a_table_in_another_encoding(run, model, people, expected, tmp_path):
    text = people.read_text().replace("income", "größe").replace("clerk", "Schlosser é")
    (tmp_path / "other.csv").write_bytes(text.encode("cp1252"))
    assert "--encoding cp1252" in run("predict", model, tmp_path / "other.csv").err
    result = run("predict", model, tmp_path / "other.csv", "--encoding", "cp1252")
    assert (result.code, result.out.count("\n")) == (0, 501)


def test_numbers_and_text_as_csv():
    """Floats have the digits of their type, labels are quoted where they must be: another reader finds all again."""
    labels = np.array(["a,b", 'say "no"', "two\nlines", "c;d", "é"])
    shares = np.array([[0.1, 0.9], [1 / 3, 2 / 3], [1e-7, 1.0], [0.0, 1.0], [0.5, 0.5]])
    content = Predictions(labels, shares, np.array([False, True])).to_bytes(".csv")
    frame = polars.read_csv(io.BytesIO(content))
    assert frame["prediction"].to_list() == labels.tolist()
    np.testing.assert_array_equal(frame["probability_True"].cast(polars.Float32), shares[:, 1].astype(np.float32))
    assert b"0.33333334,0.6666667\n" in content
    assert Predictions(np.array([True, False])).to_bytes(".csv") == b"prediction\ntrue\nfalse\n"
    assert Predictions(np.array([0.1, 2.0**70])).to_bytes(".csv") == b"prediction\n0.1\n1.1805916207174113e+21\n"


def test_parquet_is_refused_before_anything_is_read(run, model, people, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("predict", model, people, "-o", tmp_path / "out.parquet")
    assert (result.code, os.listdir(tmp_path)) == (2, [])
    assert "pip install 'repsketch[parquet]'" in result.err
    assert run("predict", model, people, "-o", tmp_path / "out.csv").code == 0


BAD = {
    "no file": (["other.rsk", "people.csv"], "other.rsk"),
    "no sketch": (["people.csv", "people.csv"], "this is no .rsk file"),
    "no table": (["model.rsk", "other.csv"], "there is no file 'other.csv'"),
    "lacking columns": (["model.rsk", "narrow.csv"], "lacks the columns"),
    "text for numbers": (
        ["model.rsk", "text.csv"],
        "column 'age' of X holds 'old' in row 0, which is no number; this model reads numbers",
    ),
    "an output": (["model.rsk", "people.csv", "-o", "out.xls"], "the output is 'out.xls'; allowed are"),
    "no such folder": (["model.rsk", "people.csv", "-o", "no/out.csv"], "no/"),
    "an unknown target": (["model.rsk", "people.csv", "-t", "wage"], "has no column 'wage'"),
    "a width": (["numbers.rsk", "narrow.csv"], "narrow.csv has 2 columns, but numbers.rsk takes 3 and has no names"),
    "probabilities of values": (["numbers.rsk", "three.csv", "--proba"], "only classifiers have probabilities"),
    "an interval of labels": (["model.rsk", "people.csv", "--interval"], "model.rsk is a classifier; --proba gives"),
    "no intervals": (["plain.rsk", "one.csv", "--interval"], "this sketch has no intervals"),
    "a confidence alone": (["model.rsk", "people.csv", "--confidence", "0.9"], "without --interval; give both"),
    "a confidence": (["numbers.rsk", "three.csv", "--interval", "--confidence", "0"], "confidence"),
    "too sure": (["numbers.rsk", "three.csv", "--interval", "--confidence", "1.5"], "confidence"),
    "a folder as output": (["model.rsk", "people.csv", "-o", "folder.csv"], "Is a directory: 'folder.csv'"),
    "too few values": (
        ["two.rsk", "pair.csv", "-t", "b"],
        "the target has shape (1,), but this model predicts 2 values",
    ),
    "text as values": (["numbers.rsk", "four.csv", "-t", "y"], "the target holds text, such as 'high'"),
}


@pytest.mark.parametrize("name", BAD)
def test_one_line_and_code_2(run, model, numbers, people, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for source in (model, numbers[0], people):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / "narrow.csv").write_text("a,b\n1,2\n")
    (tmp_path / "three.csv").write_text("a,b,c\n1,2,3\n")
    (tmp_path / "four.csv").write_text("a,b,c,y\n1,2,3,high\n")
    (tmp_path / "text.csv").write_text("age,job,member,zip\nold,clerk,true,001\nyoung,clerk,true,001\n")
    (tmp_path / "one.csv").write_text("a\n1\n")
    (tmp_path / "pair.csv").write_text("a,b\n1,2\n")
    (tmp_path / "folder.csv").mkdir()
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=4, n_features=1)
    density.add(np.zeros((1, 1))).quantize(np.zeros((1, 1))).save(tmp_path / "plain.rsk")
    two = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=4, n_features=1, n_outputs=2)
    two.add(np.zeros((1, 1)), np.ones((1, 2))).save(tmp_path / "two.rsk")
    arguments, message = BAD[name]
    result = run("predict", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("repsketch: ")
    assert message in result.err
    assert result.err.count("\n") == 1
