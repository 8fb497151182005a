"""Results of benchmarks as JSON files that tables are generated from."""

import json
from pathlib import Path
from typing import Any

from repsketch_bench.environment import environment

RESULTS = Path(__file__).parents[1] / "results"


def write_result(name: str, payload: dict[str, Any]) -> Path:
    """Write ``payload`` with the versions and the machine it was measured on to results/<name>.json."""
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"environment": environment(), **payload}, indent=1) + "\n")
    return path
