"""Messy tables, as people have them: each is read, or refused with one clear line and exit code 2."""

import datetime
import decimal
import os
import subprocess
import sys

import numpy as np
import polars
import pytest
from sklearn.base import clone

import repsketch as rs
from repsketch.data.tables import read_table
from repsketch.teacher.default import train_teacher

GOOD = "a,b,y\n" + "1,x,low\n2,z,high\n" * 20
BAD = {
    "empty": ("", "empty CSV"),
    "names alone": ("a,b,y\n", "has no rows"),
    "a NUL byte": ("a,b,y\n1,\0,low\n", "holds a NUL byte in line 2"),
    "an unclosed quote": ('a,b,y\n"1,x,low\n2,z,high\n', "cannot be read as .csv"),
    "a long line": (GOOD + "1,x,low,more\n", "found more fields"),
    "a short line": (GOOD + "1\n", "the target 'y' of t.csv is missing in 1 of 41 rows, first in row 40"),
    "1e400": (GOOD.replace("1,", "1e400,"), "column 'a' of t.csv holds infinity"),
    "1e39": (GOOD.replace("1,", "1e39,"), "infinity"),
    "a huge integer": (GOOD.replace("1,", "9" * 70 + ","), "cannot be read as .csv"),
    "one class": (GOOD.replace("high", "low"), "y holds one class only, 'low'"),
    "no target in any row": ("a,b,y\n" + "1,x,\n2,z,?\n" * 20, "missing in 40 of 40 rows"),
    "no target in some rows": (GOOD + "1,x,NA\n", "missing in 1 of 41 rows, first in row 40"),
    "a name twice": (GOOD.replace("a,b,y", "a,a,y"), "two columns named 'a'"),
    "another encoding": (GOOD.replace("x", "é").encode("latin-1"), "byte 0xe9 in line 2 cannot be decoded"),
    "a name in another encoding": (GOOD.replace("b", "é").encode("latin-1"), "byte 0xe9 in line 1 cannot be decoded"),
    "dates": (GOOD.replace("low", "2024-01-31").replace("high", "2024-02-28T12:00:00Z"), "holds dates or times"),
    "an unknown separator": (GOOD.replace(",", ":"), "it has 'a:b:y' alone, as the separator was taken to be ','"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is no utf-8 text"),
    "one row": ("a,b,y\n1,x,low\n", "one class only"),
    "the target alone": ("y\nlow\nhigh\n", "has no columns to predict from"),
    "a name too long": (
        "n" * 1_025 + GOOD[1:],
        "has a name of 1025 bytes, 'nnnnnnnnnnnnnnnnnnnn'...; allowed are 1024. Rename it.",
    ),
    "a target's name too long": (
        GOOD.replace("y", "y" * 1_025),
        "has a name of 1025 bytes, 'yyyyyyyyyyyyyyyyyyyy'...; allowed are 1024",
    ),
    "a label too long": (
        GOOD.replace("low", "é" * 513),
        "the target 'y' of t.csv has a label of 1026 bytes, 'éééééééééééééééééééé'...; allowed are 1024",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_compress_refuses(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    content, message = BAD[name]
    (tmp_path / "t.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    target = "-1" if "name too long" in name else "y"
    result = run("compress", "--train", "t.csv", "-t", target, "-o", "out", "--time-limit", "1")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result
    assert result.err.startswith("repsketch: ")
    assert message in result.err
    assert os.listdir(tmp_path) == ["t.csv"]


PARQUET = {
    "dates": ({"x": [datetime.date(2020, 1, 31)] * 40}, "no column of X can be used: 'x' holds dates or times"),
    "durations": ({"x": [datetime.timedelta(1)] * 40}, "no column of X can be used: 'x' holds dates or times"),
    "bytes": ({"x": [b"\xff"] * 40}, "column 'x' of t.parquet holds large_binary"),
    "a NUL in text": (
        {"x": ["a", "b\0"] * 20},
        "no column of X can be used: 'x' holds text of over 1024 bytes, or with a NUL",
    ),
    "a NUL in a label": (
        {"x": range(40), "y": ["a", "b\0c"] * 20},
        "the target 'y' of t.parquet has a label with a NUL",
    ),
    "a NUL in a name": ({"x\0": range(40)}, "a column of t.parquet has a name with a NUL"),
    "classes between numbers": (
        {"x": range(40), "y": [0.5, 1.5] * 20},
        "no trees can be trained from this table: Unknown",
    ),
}


@pytest.mark.parametrize("name", PARQUET)
def test_compress_refuses_parquet(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    columns, message = PARQUET[name]
    polars.DataFrame({"y": [0, 1] * 20} | columns).write_parquet("t.parquet")
    result = run("compress", "--train", "t.parquet", "-t", "y", "--task", "classification", "--time-limit", "1")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result
    assert message in result.err
    assert os.listdir(tmp_path) == ["t.parquet"]


FINE = {
    "a column without values": {"x": range(40), "none": [None] * 40},
    "decimal fractions": {
        "x": [decimal.Decimal(i) for i in range(40)],
        "y": [decimal.Decimal(i % 2) for i in range(40)],
    },
    "few rows of many classes": {"x": range(12), "y": [f"label {i // 2}" for i in range(12)]},
}


@pytest.mark.parametrize("name", FINE)
def test_a_teacher_learns_from(tmp_path, name):
    polars.DataFrame({"y": [0, 1] * 20} | FINE[name]).write_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", "y")
    teacher = train_teacher(table.X, table.y, "classification", seed=0)
    assert teacher.predict(table.X).shape == table.y.shape
    assert clone(teacher).fit(table.X, table.y).predict(table.X).tolist() == teacher.predict(table.X).tolist()


def test_a_folder_and_a_pipe_are_no_tables(run, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for name, message in (("folder.csv", "is a folder"), ("pipe.csv", "is no regular file"), ("n" * 300, "too long")):
        result = run("compress", "--train", tmp_path / name, "-t", "y", "-o", tmp_path / "out")
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert message in result.err


def test_no_model(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    for content in (b"", b"nothing", b"\x08\x07" * 100):
        (tmp_path / "m.onnx").write_bytes(content)
        result = run("compress", tmp_path / "m.onnx", tmp_path / "t.csv", "-o", tmp_path / "out")
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result


@pytest.fixture
def density(tmp_path):
    """A sketch that needs no training."""
    sketch = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=4, n_features=1).add(np.zeros((1, 1)))
    sketch.save(tmp_path / "d.rsk")
    return tmp_path / "d.rsk"


@pytest.mark.skipif(sys.platform != "linux", reason="file names are any bytes there alone")
def test_names_of_files_that_are_no_text(run, density, tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xe9.csv")
    with open(name, "w") as file:
        file.write("a\n0\n")
    assert run("predict", density, name).out.startswith("prediction\n")
    result = run("predict", density, name, "-t", "z")
    assert (result.code, result.err.count("\n")) == (2, 1)
    result.err.encode()
    assert "\\udcff\\udce9.csv has no column 'z'" in result.err


def test_the_output_into_a_pipe(density, tmp_path):
    """Bytes are UTF-8 whatever the locale; a reader that has seen enough ends it without a word."""
    (tmp_path / "t.csv").write_text("a\n" + "0\n" * 200_000)
    command = [sys.executable, "-c", "from repsketch.cli import main; main()", "predict", density, tmp_path / "t.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"prediction\n"
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode not in (0, 2)


def test_version(run):
    result = run("--version")
    assert (result.code, result.out, result.err) == (0, f"repsketch {rs.__version__}\n", "")


def test_the_usage_shows_both_ways(run):
    usage = " ".join(run("compress", "--help").out.split())
    assert "compress [OPTIONS] (MODEL DATA | --train DATA)" in usage


def test_train_before_or_after_the_table(run, tmp_path):
    for arguments in (["--train", tmp_path / "none.csv"], [tmp_path / "none.csv", "--train"]):
        result = run("compress", *arguments, "-t", "y", "-o", tmp_path / "out")
        assert "there is no file" in result.err


def test_a_terminal_without_letters(density, tmp_path):
    density.rename(tmp_path / "größe.rsk")
    command = [sys.executable, "-c", "from repsketch.cli import main; main()", "inspect", "größe.rsk"]
    result = subprocess.run(
        command, capture_output=True, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"gr\\xf6\\xdfe.rsk" in result.stdout
