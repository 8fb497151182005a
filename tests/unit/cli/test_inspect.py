"""``repsketch inspect``: a file's facts, for people and for programs."""

import json

import repsketch as rs
from repsketch.cli.inspect import lines_of
from repsketch.io import describe


def test_in_words(run, compressed):
    path = compressed[0] / "model.rsk"
    result = run("inspect", path)
    assert (result.code, result.err) == (0, "")
    for word in (
        "'high', 'low'",
        "4 columns",
        "2 with categories",
        "missing values allowed",
        "integers",
        "income",
    ):
        assert word in result.out
    assert f"{rs.load(path).nbytes} bytes" in result.out


def test_as_json(run, compressed):
    path = compressed[0] / "model.rsk"
    assert json.loads(run("inspect", path, "--json").out) == describe(path)


def test_a_density(tmp_path):
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=2, n_outputs=3)
    density.save(tmp_path / "d.rsk", {"made by": "a test"})
    lines = dict(lines_of(describe(tmp_path / "d.rsk")))
    assert lines["predicts"] == "3 values"
    assert lines["takes"] == "2 columns, no missing values"
    assert lines["rows"].startswith("50 rows of 16 buckets, float32 counters, mean; one code a row: l2, bandwidth 1.0")
    assert lines["note: made by"] == "a test"
    assert "added to" in lines["may be"]


def test_no_sketch(run, tmp_path):
    (tmp_path / "a.rsk").write_bytes(b"nothing")
    for name, message in (("a.rsk", "a.rsk"), ("b.rsk", "b.rsk")):
        result = run("inspect", tmp_path / name)
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert message in result.err
