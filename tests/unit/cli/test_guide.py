"""Every command of the guide runs as it is printed there."""

import json
import shlex
from pathlib import Path

import numpy as np
import polars

import repsketch as rs

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "command-line.md"
QUICK = ["--time-limit", "1"]


def test_the_commands_of_the_guide(run, people, save_onnx, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_bytes(people.read_bytes())
    X = np.random.default_rng(0).normal(size=(250, 2))
    trees = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "tree": np.where(X[:, 0] > 0, "oak", "elm")})
    trees[:200].write_parquet("numbers.parquet")
    trees[200:].write_csv("later.csv")
    save_onnx(tmp_path / "model.onnx", np.array([[-2.0, 2.0], [0.0, 0.0]]))

    ages = polars.read_csv("people.csv", null_values="?").select("age")
    sizes = rs.compress(
        None, ages, ages["age"].fill_null(50) * 2.0, budget="200B", time_limit=1, random_state=0, progress=False
    )
    sizes.save("size.rsk")

    lines = [line.strip() for line in GUIDE.read_text().splitlines() if line.startswith("    repsketch ")]
    assert len(lines) == 9
    for line in lines:
        arguments = shlex.split(line)[1:]
        result = run(*arguments, *(QUICK if arguments[0] in ("compress", "curve") else []))
        assert result.code == 0, (line, result.err)
    summary = json.loads(Path("tiny/summary.json").read_text())
    assert summary["scored_on"] == "rows of later.csv"
    assert summary["sketch"]["score"] > 0.9
    assert polars.read_parquet("predictions.parquet").shape == (500, 3)
    assert np.load("predictions.npz")["predictions"].shape == (500,)
