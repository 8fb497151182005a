"""From stored jobs to one result file a dataset, and back: jobs in results are not run again."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from repsketch.compare import tuning
from repsketch.teacher.out_of_fold import N_FOLDS

from ..environment import environment
from ..jobs import Store
from .case import Job
from .data import DATASETS, MOST_ROWS, dataset_of


def collect(jobs: Iterable[Job], store: Store) -> dict[str, dict[str, Any]]:
    """One result a dataset: what every finished job found, by method and seed, and the seconds of each by its key."""
    results: dict[str, dict[str, Any]] = {}
    for job in jobs:
        if (stored := store.find(job)) is None:
            continue
        if job.dataset not in results:
            results[job.dataset] = _empty(job)
        result, found = results[job.dataset], stored["found"]
        result["jobs"][job.key] = stored["seconds"]
        result["found"].setdefault(job.method, {})[str(job.seed)] = found
        if job.method == "teacher":
            result["note"] = found["note"]
            result["metric"] = found["metric"]
    return results


def _empty(job: Job) -> dict[str, Any]:
    return {
        "dataset": job.dataset,
        "metric": "accuracy",
        "is_quick": job.is_quick,
        "is_set_aside": dataset_of(job.dataset).is_set_aside,
        "note": "",
        "environment": environment(),
        "settings": {
            "n_screened": tuning.QUICK_SCREENED if job.is_quick else tuning.N_SCREENED,
            "n_final": tuning.QUICK_FINAL if job.is_quick else tuning.N_FINAL,
            "screening_rows": tuning.SCREENING_ROWS,
            "most_rows": MOST_ROWS,
            "n_folds": N_FOLDS,
        },
        "jobs": {},
        "found": {},
    }


def restore(results: dict[str, dict[str, Any]], jobs: Iterable[Job], store: Store) -> None:
    """Put those jobs back into the store that results have: a cache may be lost, results are not."""
    for job in jobs:
        seconds = results.get(job.dataset, {}).get("jobs", {}).get(job.key)
        if seconds is not None and store.find(job) is None:
            found = results[job.dataset]["found"][job.method][str(job.seed)]
            store.keep(job, {"found": found, "seconds": seconds})


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """The results in a folder, in the order of ``DATASETS``; none where there is no folder."""
    found = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    return {name: found[name] for name in DATASETS if name in found}
