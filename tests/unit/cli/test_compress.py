"""``repsketch compress``: what it writes and says, whose rows it scores on, and one line for every bad input."""

import itertools
import json
import os
import shutil

import numpy as np
import polars
import pytest
from sklearn.base import clone

import repsketch as rs
from repsketch.cli.summary import print_summary
from repsketch.cli.tables import MAX_TEST_ROWS, split_table, thinned
from repsketch.data.frame import Frame
from repsketch.data.tables import Table, read_table
from repsketch.errors import InputError
from repsketch.teacher.default import train_teacher
from repsketch.tolerance import SIZES

QUICK = ("--time-limit", "1", "--budget", "300B")


def test_a_table_alone(people, compressed):
    folder, result = compressed
    assert result.code == 0
    assert all(line.startswith("repsketch: On 80 rows ") for line in result.err.splitlines())  # the conclusion, if any
    assert sorted(os.listdir(folder)) == ["model.rsk", "summary.json"]
    summary, sketch = json.loads((folder / "summary.json").read_text()), rs.load(folder / "model.rsk")
    assert summary["sketch"]["nbytes"] == sketch.nbytes <= 512
    assert summary["classes"] == sketch.classes.tolist() == ["high", "low"]
    assert summary["n_rows"] == {"train": 400, "test": 100}
    _, test_table = split_table(read_table(people, "income", text=["zip"]), seed=0)
    assert summary["sketch"]["score"] == (sketch.predict(test_table.X) == test_table.y).mean() > 0.8
    assert summary["teacher"]["score"] > 0.8
    assert summary["cost"]["lookups"] == sketch.cost().lookups
    for word in (
        "classification of income",
        "trees",
        f"{summary['sketch']['score']:.4f}",
        f"{sketch.nbytes}",
        "100 test rows",
        f"bytes on a device: {sketch.nbytes} of a budget of 512",
        f"checks: {(folder / 'model.rsk').stat().st_size:,}",
    ):
        assert word in result.out


def test_json(run, tmp_path, save_onnx):
    X = np.random.default_rng(1).normal(size=(400, 3)).astype(np.float32)
    np.savez(tmp_path / "data.npz", X=X, y=X[:, 0] + X[:, 1])
    model = save_onnx(tmp_path / "model.onnx", np.array([[1.0], [1.0], [0.0]]))
    result = run("compress", model, tmp_path / "data.npz", *QUICK, "-o", tmp_path / "out", "--json")
    assert result.code == 0
    summary = json.loads(result.out)
    assert summary == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["task"], summary["metric"], summary["target"]) == ("regression", "R2", "y")
    assert summary["teacher"]["score"] == pytest.approx(1.0, abs=1e-5)
    assert summary["teacher"]["nbytes"] == model.stat().st_size
    assert summary["sketch"]["reduction"] == model.stat().st_size / summary["sketch"]["nbytes"]
    assert summary["sketch"]["score"] > 0.5


@pytest.mark.parametrize(
    ("options", "metric"),
    [
        (("--loss", "absolute_error"), "MAE"),
        (("--loss", "quantile", "--quantile", "0.9"), "pinball loss"),
        (("--metric", "neg_root_mean_squared_error"), "neg_root_mean_squared_error"),
    ],
)
def test_the_loss_and_the_metric_of_the_user(run, tmp_path, options, metric):
    """Values with skewed noise: the sketch of a quantile lies above nine tenths of them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2)).astype(np.float32)
    y = X[:, 0] + rng.exponential(size=600)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    result = run("compress", "--train", tmp_path / "data.npz", *QUICK, "-o", tmp_path / "out", "--json", *options)
    assert result.code == 0, result.err
    summary, sketch = json.loads(result.out), rs.load(tmp_path / "out/model.rsk")
    assert summary["metric"] == metric
    below = (y < sketch.predict(X)).mean()
    assert abs(below - {"MAE": 0.5, "pinball loss": 0.9}.get(metric, 0.63)) < 0.1
    assert np.isfinite([summary["teacher"]["score"], summary["sketch"]["score"]]).all()


def test_classes_of_few_rows_count_alike(run, people, tmp_path):
    options = ("--metric", "balanced_accuracy", "--class-weight", "balanced")
    result = run("compress", "--train", people, "-t", "income", "-o", tmp_path, "--json", *QUICK, *options)
    assert result.code == 0, result.err
    summary = json.loads(result.out)
    assert summary["metric"] == "balanced_accuracy"
    assert 0.5 < summary["sketch"]["score"] <= 1.0


def test_a_column_of_weights(run, tmp_path):
    """Ones weigh three times as much as zeros: three quarters of all rows, in teacher, sketch and test score."""
    rng = np.random.default_rng(0)
    y = rng.random(800) < 0.5
    polars.DataFrame({"x": rng.normal(size=800), "y": y.astype(int), "w": np.where(y, 3.0, 1.0)}).write_csv(
        tmp_path / "data.csv"
    )
    shutil.copy(tmp_path / "data.csv", tmp_path / "test.csv")
    options = ("--train", tmp_path / "data.csv", "-t", "y", "--weights", "w", "-o", tmp_path, "--json", *QUICK)
    for test in ((), ("--test", tmp_path / "test.csv")):
        result = run("compress", *options, *test)
        assert result.code == 0, result.err
        summary = json.loads(result.out)
        assert summary["teacher"]["score"] == pytest.approx(0.75, abs=0.08)
        assert summary["sketch"]["score"] == pytest.approx(0.75, abs=0.08)
    sketch = rs.load(tmp_path / "model.rsk")
    assert sketch.compiled.feature_names == ("x",)
    assert sketch.predict_proba(rng.normal(size=(500, 1)))[:, 1].mean() == pytest.approx(0.75, abs=0.06)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--weights", "job"), "column 'job' of people.csv holds text or missing values"),
        (("--loss", "huber"), "loss='huber'; allowed are"),
        (("--loss", "quantile"), "quantile=0.9"),
        (("--metric", "roc_auk"), "did you mean 'roc_auc'"),
        (("--metric", "r2"), "scores regressions"),
        (("--class-weight", "heavy"), "class_weight='heavy'"),
    ],
)
def test_what_cannot_be_optimised(run, people, tmp_path, options, said):
    result = run("compress", "--train", people, "-t", "income", "-o", tmp_path / "out", *QUICK, *options)
    assert result.code == 2
    assert said in result.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("tolerance", "is_reached"), [("0.2", True), ("0", False)])
def test_accuracy_in_place_of_bytes(run, people, tmp_path, brief_search, monkeypatch, tolerance, is_reached):
    monkeypatch.setattr("repsketch.tolerance.SIZES", SIZES[:9])
    monkeypatch.setattr("repsketch.tolerance.teacher_score", lambda prepared: 1.0 if is_reached else 1.1)
    options = ("--train", people, "-t", "income", "-o", tmp_path, "--tolerance", tolerance)
    result = run("compress", *options)
    assert result.code == 0, result.err
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["tolerance"], summary["sizes"]["budget"]) == (float(tolerance), None)
    assert (summary["sketch"]["validation_score"] >= 0.8) or not is_reached
    assert summary["sketch"]["nbytes"] == rs.load(tmp_path / "model.rsk").nbytes
    assert f"with a tolerance of {tolerance}" in result.out
    for said in (result.err, summary["conclusion"] or ""):
        assert ("No sketch was found that loses at most 0 of the teacher's accuracy of 1.1" in said) != is_reached


def test_a_model_that_counts_its_columns_has_the_labels_in_order(run, tmp_path, save_onnx):
    X = np.random.default_rng(2).normal(size=(300, 2))
    labels = np.array(["ash", "elm", "oak"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    table = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "tree": labels})
    table.write_parquet(tmp_path / "trees.parquet")
    test = table.select("tree", "b", "a").head(50)  # in another order
    test.write_csv(tmp_path / "test.csv")
    model = save_onnx(tmp_path / "m.onnx", np.array([[-9.0, 0.0, 9.0], [0.0, 0.0, 0.0]]), last="Softmax")
    options = ("-t", "tree", "--test", tmp_path / "test.csv", "-o", tmp_path / "out", *QUICK)
    result = run("compress", model, tmp_path / "trees.parquet", *options)
    assert result.code == 0, result.err
    summary, sketch = json.loads((tmp_path / "out" / "summary.json").read_text()), rs.load(tmp_path / "out/model.rsk")
    assert sketch.classes.tolist() == ["ash", "elm", "oak"]
    assert summary["n_rows"] == {"train": 300, "test": 50}
    assert summary["scored_on"] == "rows of test.csv"
    assert summary["sketch"]["score"] == (sketch.predict(test) == labels[:50]).mean() > 0.7
    assert 0.3 < summary["teacher"]["score"] < 0.8  # never predicts elm


def test_one_column_for_two_labels_is_a_classifier(run, tmp_path, save_onnx):
    X = np.random.default_rng(3).normal(size=(300, 2))
    polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] > 0) + 3}).write_csv(tmp_path / "data.csv")
    model = save_onnx(tmp_path / "m.onnx", np.array([[5.0], [0.0]]), last="Sigmoid")
    result = run("compress", model, tmp_path / "data.csv", "-t", "y", "-o", tmp_path / "out", "--json", *QUICK)
    summary = json.loads(result.out)
    assert (summary["task"], summary["classes"]) == ("classification", [3, 4])
    assert summary["teacher"]["score"] == 1.0
    assert summary["sketch"]["score"] > 0.9


def test_without_a_target_the_teacher_is_the_judge(run, tmp_path, save_onnx):
    X = np.random.default_rng(4).normal(size=(300, 2))
    polars.DataFrame({"a": X[:, 0], "b": X[:, 1]}).write_csv(tmp_path / "data.csv")
    model = save_onnx(tmp_path / "m.onnx", np.array([[5.0, 0.0], [0.0, 0.0]]))
    result = run("compress", model, tmp_path / "data.csv", "-o", tmp_path / "out", *QUICK)
    assert result.code == 0, result.err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["scored_against"] == "teacher"
    assert summary["teacher"]["score"] is None
    assert summary["sketch"]["score"] > 0.9
    assert "agreement with the teacher" in result.out


def test_test_rows_do_not_train_the_teacher(run, people, tmp_path, monkeypatch):
    seen = []

    def spy(function):
        def call(*arguments, **options):
            seen.extend(argument for argument in arguments if isinstance(argument, Frame))
            return function(*arguments, **options)

        return call

    monkeypatch.setattr("repsketch.cli.compress.compress_model", spy(rs.compress))
    monkeypatch.setattr("repsketch.teacher.default.train_teacher", spy(train_teacher))
    assert run("compress", "--train", people, "-t", "income", "-o", tmp_path, "--seed", 3, *QUICK).code == 0
    train_table, _ = split_table(read_table(people, "income"), seed=3)
    assert [frame.rows() == train_table.X.rows() for frame in seen] == [True, True]


def test_split_into_training_and_test_rows():
    X, y = np.arange(100.0)[:, None], np.arange(100)
    train_table, test_table = split_table(Table("t", X, y), seed=5)
    assert (train_table.n_rows, test_table.n_rows) == (80, 20)
    assert sorted([*train_table.y, *test_table.y]) == y.tolist()
    np.testing.assert_array_equal(test_table.X[:, 0], test_table.y)
    assert test_table.y.tolist() != split_table(Table("t", X, y), seed=6)[1].y.tolist()
    assert split_table(Table("t", np.zeros((60_000, 1))), seed=0)[1].n_rows == MAX_TEST_ROWS
    few, same = split_table(Table("t", X[:4], y[:4]), seed=0)
    assert few.y.tolist() == same.y.tolist() == [0, 1, 2, 3]


def test_a_few_rows_are_scored_where_they_were_learnt(run, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    result = run("compress", "--train", path, "-t", "y", "-o", tmp_path / "out", *QUICK)
    assert result.code == 0, result.err
    assert "scored on 4 training rows" in result.out


def test_the_comparison_is_printed(capsys):
    cost = {"operations": 9.0, "adds": 4.0, "multiplies": 2, "lookups": 2, "others": 1.0}
    summary = {
        "task": "classification", "target": "y", "metric": "accuracy", "scored_against": "target",
        "scored_on": "test rows", "n_rows": {"train": 8, "test": 2}, "cost": cost, "seconds": 1.5,
        "teacher": {"name": "m.onnx", "nbytes": 4_000, "score": 0.9}, "files": ["a.rsk"],
        "sketch": {"nbytes": 400, "score": 0.8, "validation_score": 0.75, "reduction": 10.0},
        "n_left_out": 1_500,
        "sizes": {"device": 400, "file": 1_234, "budget": 512},
        "comparison": [{"name": "boosted trees", "nbytes": 399, "validation_score": 0.85}],
        "conclusion": "boosted trees are better here by more than the noise",
    }  # fmt: skip
    print_summary(summary)
    said = capsys.readouterr().out
    for word in (
        "399",
        "1,500 training rows were left out",
        "10.0 times smaller",
        "4,000",
        "--test",
        "400 of a budget of 512",
        "1,234",
    ):
        assert word in said
    cells = {
        row[0]: row[1:] for row in ([c.strip() for c in line.split("│")[1:-1]] for line in said.splitlines()) if row
    }
    assert cells["sketch"] == ["0.8000", "0.7500", "400"]  # one row, its two scores told apart by their columns
    assert cells["boosted trees"] == ["", "0.8500", "399"]
    assert cells["teacher: m.onnx"] == ["0.9000", "", "4,000"]


def test_the_summary_tells_what_was_compared_on_which_rows(compressed):
    summary = json.loads((compressed[0] / "summary.json").read_text())
    assert summary["sizes"] == {
        "budget": 512,
        "device": summary["sketch"]["nbytes"],
        "file": (compressed[0] / "model.rsk").stat().st_size,
    }
    assert "sketch" not in [row["name"] for row in summary["comparison"]]


class TestTrain:
    def test_a_raw_table_with_many_labels_and_missing_values(self):
        rng = np.random.default_rng(6)
        numbers = rng.normal(size=1_000)
        frame = polars.DataFrame(
            {
                "x": np.where(rng.random(1_000) < 0.1, np.nan, numbers),
                "many": [f"label {i % 400}" for i in range(1_000)],
                "kind": [["a", "b", None][i % 3] for i in range(1_000)],
            }
        )
        y = np.where((numbers > 0) ^ (np.arange(1_000) % 3 == 0), "yes", "no")
        teacher = train_teacher(frame, y, "classification", seed=0)
        assert (teacher.predict(frame) == y).mean() > 0.9
        again = clone(teacher).fit(frame, y)
        np.testing.assert_array_equal(again.predict(frame), teacher.predict(frame))
        unseen = frame.with_columns(polars.lit("c").alias("kind")).select("kind", "many", "x")
        unknown = frame.with_columns(polars.lit(None, polars.String).alias("kind"))
        np.testing.assert_array_equal(teacher.predict(unseen), teacher.predict(unknown))

    def test_a_class_with_one_member(self):
        X, y = np.arange(600.0)[:, None], np.array(["a"] * 300 + ["b"] * 299 + ["c"])
        assert (train_teacher(X, y, "classification", seed=0).predict(X) == y).mean() > 0.99


class TestTimeLimit:
    def test_fewer_trees_where_time_is_short(self, monkeypatch):
        rng = np.random.default_rng(7)
        X, now = rng.normal(size=(300, 2)), itertools.count()
        y = X[:, 0] + rng.normal(size=300)
        monkeypatch.setattr("repsketch.teacher.default.time.monotonic", lambda: float(next(now)))  # a second each time
        n_trees = [train_teacher(X, y, "regression", 0, seconds)[-1].n_iter_ for seconds in (0.5, 2.5, 6.5, 1e9, None)]
        assert n_trees == [5, 10, 40, 100, 100]

    def test_trees_that_stopped_early_are_not_grown_again(self):
        X = np.random.default_rng(8).normal(size=(600, 2))
        teacher = train_teacher(X, X[:, 0] > 0, "classification", 0, 1e9)
        trees = teacher[-1]
        assert trees.n_iter_ == trees.max_iter < 400
        again = clone(teacher).fit(X, X[:, 0] > 0)  # as compress trains copies of it
        assert again[-1].n_iter_ <= trees.n_iter_
        assert (again.predict(X) == teacher.predict(X)).mean() > 0.95

    def test_fewer_rows_of_a_large_table(self):
        table = Table("t", np.zeros((50_000, 20)), np.arange(50_000))
        few = thinned(table, 0.5, seed=0)
        assert few.n_rows == 5_000
        assert (np.diff(few.y) > 0).all()
        assert few.y.max() > 40_000
        assert thinned(table, 0.5, seed=1).y.tolist() != few.y.tolist()
        assert thinned(table, 10.0, seed=0) is table
        assert thinned(table, 1e-9, seed=0).n_rows == 1_000

    def test_the_search_gets_what_is_left(self, run, people, tmp_path, monkeypatch):
        seen = {}

        def spy(teacher, X, y, **options):
            seen.update(options)
            raise InputError("enough")

        def slow(X, y, task, seed, seconds, *loss):
            seen["seconds"] = seconds
            now[0] += 300.0
            return "a teacher"

        now = [0.0]
        monkeypatch.setattr("repsketch.cli.compress.compress_model", spy)
        monkeypatch.setattr("repsketch.teacher.default.train_teacher", slow)
        monkeypatch.setattr("repsketch.cli.compress.time.monotonic", lambda: now[0])
        for limit, left in ((1_000, 700), (310, 31)):
            run("compress", "--train", people, "-t", "income", "-o", tmp_path / "out", "--time-limit", limit)
            assert (seen["time_limit"], seen["seconds"]) == (left, 0.1 * limit)
        run("compress", "--train", people, "-t", "income", "-o", tmp_path / "out")
        assert (seen["time_limit"], seen["seconds"]) == (None, None)
        assert os.listdir(tmp_path) == []


BAD = {
    "one file": (["model.onnx"], "compress was given 'model.onnx'; allowed is MODEL DATA"),
    "a table without --train": (["people.csv"], "allowed is MODEL DATA, an .onnx file and a table, or --train"),
    "two files and --train": (["--train", "model.onnx", "people.csv"], "--train with several files"),
    "the other way round": (["people.csv", "model.onnx"], "allowed is MODEL DATA"),
    "a pickle": (
        ["model.pkl", "people.csv"],
        "'model.pkl': .pkl models are not supported yet; export the model to .onnx",
    ),
    "no model": (["other.onnx", "numbers.csv", "-t", "y"], "there is no file 'other.onnx'"),
    "no table": (["model.onnx", "other.csv"], "there is no file 'other.csv'"),
    "no target": (["--train", "people.csv"], "--train needs --target, the column of people.csv to predict"),
    "an unknown target": (["--train", "people.csv", "-t", "wage"], "people.csv has no column 'wage'; it has 'age'"),
    "an unknown column": (["--train", "people.csv", "--drop", "wage"], "has no column 'wage' to drop"),
    "a missing target": (["--train", "people.csv", "-t", "age"], "the target 'age' of people.csv is missing in"),
    "a budget": (["--train", "people.csv", "-t", "income", "-b", "4GB"], "budget='4GB'; allowed is"),
    "a budget and a tolerance": (
        ["--train", "people.csv", "-t", "income", "-b", "1KB", "--tolerance", "0.1"],
        "budget='1KB' and tolerance=0.1; allowed is one of them",
    ),
    "a tolerance": (["--train", "people.csv", "-t", "income", "--tolerance", "nan"], "tolerance=nan; allowed is"),
    "a task": (["--train", "people.csv", "-t", "income", "--task", "ranking"], "task='ranking'; allowed are"),
    "a task for text": (["--train", "people.csv", "-t", "income", "--task", "regression"], "y holds"),
    "a time limit": (["--train", "people.csv", "-t", "income", "--time-limit", "0"], "time_limit=0.0; allowed is"),
    "text for a model of numbers": (["model.onnx", "people.csv", "-t", "income"], "holds text in 'job'"),
    "another width": (["model.onnx", "numbers.csv"], "X has 3 features, but this model takes 2"),
    "another number of classes": (["model.onnx", "numbers.csv", "-t", "y"], "classes [0, 1], numbers.csv [0, 1, 2]"),
    "a folder that is a file": (
        ["--train", "people.csv", "-t", "income", "-o", "a_file"],
        "'a_file' is no folder",
    ),
    "a folder in a file": (
        ["--train", "people.csv", "-t", "income", "-o", "a_file/b"],
        "a_file' is no folder",
    ),
    "a test of other columns": (["--train", "people.csv", "-t", "income", "--test", "numbers.csv"], "'income'"),
}


class TestErrors:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch, people, save_onnx):
        """A folder to stand in, with a model and a table."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "people.csv").write_bytes(people.read_bytes())
        (tmp_path / "a_file").write_text("")
        (tmp_path / "numbers.csv").write_text("a,b,y\n" + "1,2,0\n2,3,1\n3,4,2\n" * 10)
        save_onnx(tmp_path / "model.onnx", np.ones((2, 2)))

    @pytest.mark.parametrize("name", BAD)
    def test_one_line_and_code_2(self, run, tmp_path, name):
        arguments, message = BAD[name]
        before = sorted(os.listdir(tmp_path))
        result = run("compress", *arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("repsketch: ")
        assert message in result.err
        assert result.err.count("\n") == 1
        assert sorted(os.listdir(tmp_path)) == before

    def test_no_argument_at_all(self, run):
        result = run("compress")
        assert result.code == 2
        assert "MODEL" in result.err

    @pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (OSError, 2)])
    def test_stopped_while_writing(self, run, monkeypatch, tmp_path, error, code):
        (tmp_path / "out").mkdir()

        def fail(*arguments):
            raise error("disk full")

        monkeypatch.setattr(os, "replace", fail)
        result = run("compress", "--train", "numbers.csv", "-t", "y", "-o", "out", *QUICK)
        assert result.code == code
        assert os.listdir(tmp_path / "out") == []
