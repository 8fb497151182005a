"""The jobs of the frontier: every method on every dataset with every seed, its teacher first."""

import io
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from repsketch.errors import InputError
from repsketch.files import write_atomically
from repsketch.preparation import prepare
from repsketch.sizes import Searches, sketch_of
from repsketch.sketch import CompiledSketch
from repsketch.train.search import search
from repsketch.train.training_data import TrainingData

from .. import jobs as any_jobs
from ..jobs import Store
from ..peers import PEERS
from .ablation import ABLATIONS
from .case import Case, Job, soft_labels_path
from .settings import OURS, SECONDS


def jobs_of(
    datasets: Iterable[str], n_seeds: int, budgets: Iterable[int], methods: Iterable[str], *, is_quick: bool = False
) -> list[Job]:
    """All jobs of a run.

    >>> len(jobs_of(["wine", "digits"], 2, [256], ["ours", "linear"]))
    12
    """
    budgets, methods = tuple(budgets), list(methods)
    jobs = []
    for dataset in datasets:
        for seed in range(n_seeds):
            jobs.append(Job(dataset, seed, "teacher", is_quick=is_quick))
            jobs += [Job(dataset, seed, method, budgets, is_quick) for method in methods]
    return jobs


def teacher_of(job: Job) -> Job | None:
    """The job that a job needs: that of its teacher, or none if it is one."""
    return None if job.method == "teacher" else replace(job, method="teacher", budgets=())


def run_jobs(jobs: list[Job], store: Store, cache: Path, *, n_workers: int = 2, progress: bool = True) -> None:
    """Run those jobs whose result is not stored yet."""
    any_jobs.run_jobs(
        jobs,
        store,
        partial(run_job, cache=cache),
        title="accuracy against bytes",
        seconds_of=lambda job: SECONDS.get(job.method, SECONDS[OURS]),
        needed_by=teacher_of,
        n_workers=n_workers,
        progress=progress,
    )


def run_job(job: Job, cache: Path) -> dict[str, Any]:
    """What one job finds, with the seconds it took."""
    started = time.perf_counter()
    case = Case(job.dataset, job.seed, job.is_quick)
    path = soft_labels_path(cache, job)
    if job.method == "teacher":
        found = _teach(case, path)
    else:
        if not path.exists():  # the teacher's result was restored, its soft labels were not
            _teach(case, path)
        soft_labels = np.load(path, allow_pickle=False)
        if job.method == OURS:
            entries = _ours(case, soft_labels, job)
        else:
            data = case.taught(soft_labels)
            entries = _peer(case, data, job) if job.method in PEERS else _ablated(case, data, job)
        found = {str(budget): entry for budget, entry in entries}
    return {"found": found, "seconds": time.perf_counter() - started}


def _teach(case: Case, path: Path) -> dict[str, Any]:
    from .teachers import best_soft_labels

    soft_labels, found = best_soft_labels(case)
    content = io.BytesIO()
    np.save(content, soft_labels.astype(np.float32))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content.getvalue())
    table = case.table
    metric = "MAE" if table.task == "regression" else "accuracy"
    sizes = {"n_train": len(table.X_train), "n_test": len(table.X_test), "n_columns": table.X_train.shape[1]}
    return found | sizes | {"metric": metric, "note": table.note}


def _ours(case: Case, soft_labels: np.ndarray, job: Job) -> Iterable[tuple[int, dict[str, Any]]]:
    """What one call of ``compress`` returns at every budget; it gets what peers get, as a user would give it.

    The calls share what they have in common: the table is read once, and no search is made twice.
    """
    table = case.table
    X_train, X_test = table.raw(table.X_train), table.raw(table.X_test)
    outputs = np.hstack([1.0 - soft_labels, soft_labels]) if table.n_classes == 2 else soft_labels
    searches = Searches(
        prepare(
            outputs, X_train, table.y_train, task=table.task,
            loss="absolute_error" if table.task == "regression" else None,
            effort="fast" if job.is_quick else "normal", random_state=job.seed, progress=False,
        )
    )  # fmt: skip
    for budget in sorted(job.budgets):
        started = time.perf_counter()
        try:
            found = searches.at(budget)
        except InputError as error:  # no sketch is so small
            yield budget, {"reason": str(error)}
            continue
        seconds = time.perf_counter() - started
        sketch = sketch_of(searches.prepared, found.trial)
        yield (
            budget,
            {
                "nbytes": sketch.nbytes,
                "score": case.score(sketch.outputs(X_test)),
                "loss": found.trial.loss,
                "settings": {"name": repr(sketch)},
                "seconds": seconds,
            },
        )


def _ablated(case: Case, data: TrainingData, job: Job) -> Iterable[tuple[int, dict[str, Any]]]:
    """The best sketch within every budget by a search with something switched off."""
    ablation = ABLATIONS[job.method]
    data = ablation.data(data)
    for budget in sorted(job.budgets):
        started = time.perf_counter()
        try:
            found = search(data, budget, seed=job.seed, progress=False, change=ablation.change, effort=ablation.effort)
        except InputError as error:  # nothing of the kind is so small
            yield budget, {"reason": str(error)}
            continue
        seconds = time.perf_counter() - started
        yield (
            budget,
            {
                "nbytes": found[0].model.nbytes,
                "score": case.score(CompiledSketch(found[0].model).outputs(case.table.X_test)),
                "loss": found[0].loss,
                "settings": {"name": found[0].name},
                "n_tried": len(found),
                "seconds": seconds,
            },
        )


def _peer(case: Case, data: TrainingData, job: Job) -> Iterable[tuple[int, dict[str, Any]]]:
    """The best model of one kind at every budget."""
    started = time.perf_counter()
    for budget, model in PEERS[job.method].models(data, job.budgets, seed=job.seed, is_quick=job.is_quick):
        seconds = time.perf_counter() - started
        if model is None:
            yield budget, {"reason": f"nothing of this kind takes {budget} bytes or fewer"}
        else:
            yield (
                budget,
                {
                    "nbytes": model.nbytes,
                    "score": case.score(model.outputs(case.table.X_test)),
                    "loss": model.loss,
                    "settings": model.settings,
                    "n_tried": model.n_tried,
                    "seconds": seconds,
                },
            )
        started = time.perf_counter()
