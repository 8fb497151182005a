"""What decision 9 says is what bench/results/calibration.json holds."""

import json
from pathlib import Path

import pytest

RESULTS = json.loads((Path(__file__).parents[2] / "results/calibration.json").read_text())
AT_95 = RESULTS["confidences"].index(0.95)


@pytest.mark.parametrize("name", ["abalone", "yearmsd"])
def test_intervals(name):
    found = {kind: entry["mean"][AT_95] for kind, entry in RESULTS["intervals"][name].items()}
    for kind in ("validation", "fresh", "one width"):
        assert 0.93 <= found[f"{kind}, coverage"] <= 0.97
    assert found["fresh, width"] < 0.95 * found["one width, width"]
    worst = "coverage of the worst quarter"
    assert found[f"fresh, {worst}"] > found[f"one width, {worst}"] + 0.02


@pytest.mark.parametrize("name", ["phishing", "breast cancer"])
def test_probabilities(name):
    """No worse than the teacher's by two standard errors."""
    found = RESULTS["probabilities"][name]
    teacher, sketch = (found[f"{kind}, calibration error"] for kind in ("teacher", "sketch"))
    noise = 2.0 * (teacher["standard_error"] ** 2 + sketch["standard_error"] ** 2) ** 0.5
    assert sketch["mean"] < teacher["mean"] + noise
