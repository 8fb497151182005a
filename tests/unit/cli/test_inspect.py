"""``repsketch inspect``: a file's facts, for people and for programs."""

import json

import repsketch as rs
from repsketch.cli.inspect import lines_of
from repsketch.io import describe
from repsketch.sketch import CompiledSketch
from support.rsk.stages import stages_model


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


def test_stages(tmp_path):
    CompiledSketch(stages_model()).save(tmp_path / "s.rsk")
    facts = describe(tmp_path / "s.rsk")
    lines = lines_of(facts)
    assert [name for name, _ in lines[2:7]] == ["projection", "stage 0", "stage 1", "stage 2", "stage 3"]
    words = dict(lines)
    assert words["projection"] == "stages, 4 components"
    assert words["stage 0"] == "5 to 7, sparse int4, 15 entries not 0; tables of 8 entries, linear term; 113 bytes"
    assert words["stage 1"] == "7 to 5, int4, 35 entries not 0; relu, linear term; 50 bytes"
    assert words["stage 3"] == "3 to 4, int8, 12 entries not 0; no activation; 28 bytes"
    assert facts["sections"]["STAGE_MATRIX 2"] == 2 + 9
    assert facts["sections"]["STAGE_LINEAR 1"] == 4 + 10
    assert "STAGE_LINEAR 2" not in facts["sections"]


def test_no_sketch(run, tmp_path):
    (tmp_path / "a.rsk").write_bytes(b"nothing")
    for name, message in (("a.rsk", "a.rsk"), ("b.rsk", "b.rsk")):
        result = run("inspect", tmp_path / name)
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert message in result.err
