"""From stored jobs to one result file a dataset, and from those to rows of tables: means and deviations over seeds."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from repsketch.files import write_atomically

from ..datasets import source_of
from ..environment import environment
from .settings import MOST_ROWS, SETTINGS
from .store import Job, Store


def collect(jobs: Iterable[Job], store: Store) -> dict[str, dict[str, Any]]:
    """One result a dataset: what every finished job found, by kind and seed."""
    results: dict[str, dict[str, Any]] = {}
    for job in jobs:
        if (stored := store.find(job)) is None:
            continue
        sizes = SETTINGS[job.dataset].sizes
        result = results.setdefault(
            job.dataset,
            {
                "dataset": job.dataset,
                "task": sizes.task,
                "metric": "accuracy" if sizes.task == "classification" else "MAE",
                "is_quick": job.is_quick,
                "note": source_of(job.dataset).note,
                "environment": environment(),
                "settings": settings_of(job.dataset),
                "seconds": 0.0,
                "found": {},
            },
        )
        result["seconds"] += stored["seconds"]
        result["found"].setdefault(job.kind, {})[str(job.seed)] = stored["found"]
    return results


def settings_of(dataset: str) -> dict[str, Any]:
    """How a dataset was trained and distilled, to be written down beside its results.

    >>> settings_of("abalone")["distill"]["kernel"]
    'closed_form'
    """
    settings = SETTINGS[dataset]
    return {**asdict(settings), "distill": settings.distill, "most_rows": MOST_ROWS}


def write_results(results: dict[str, dict[str, Any]], folder: Path) -> None:
    """One JSON file a dataset."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, result in results.items():
        write_atomically(folder / f"{name}.json", (json.dumps(result, indent=1) + "\n").encode())


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """The results in a folder, in the order of the paper's table."""
    found = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    return {name: found[name] for name in SETTINGS if name in found}


def over_seeds(result: dict[str, Any], kind: str, *path: Any) -> list[float]:
    """One number of every seed that has it: the entry at ``path`` of what the jobs of this kind found."""
    numbers = []
    for found in result["found"].get(kind, {}).values():
        value: Any = found
        for step in path:
            value = value.get(str(step)) if isinstance(value, dict) else None
        if value is not None:
            numbers.append(float(value))
    return numbers


def mean_and_deviation(numbers: list[float], digits: int = 4) -> str:
    """Mean ± standard deviation.

    >>> mean_and_deviation([0.5, 0.7]), mean_and_deviation([0.25]), mean_and_deviation([])
    ('0.6000 ± 0.1414', '0.2500', '–')
    """
    if not numbers:
        return "–"
    text = f"{mean(numbers):.{digits}f}"
    return text if len(numbers) == 1 else f"{text} ± {stdev(numbers):.{digits}f}"
