"""The jobs of the paper's experiments: a teacher before what needs it."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .. import jobs as any_jobs
from .store import Job, Store

#: Kinds of jobs with about how many seconds one takes on one core: the progress bar's units, longest first.
SECONDS = {"teacher": 6, "pruning": 45, "sketch": 45, "ablation": 45, "distilled": 35, "convergence": 30, "stages": 25,
           "others": 20, "grouped": 18}  # fmt: skip
ABLATION_SEEDS = 3
GROUPED = ("phishing", "skin")  # many rows are there twice or more


def jobs_of(datasets: Iterable[str], n_seeds: int, *, is_quick: bool = False, has_curve: bool = True) -> list[Job]:
    """All jobs of a run.

    >>> len(jobs_of(["abalone"], 2, is_quick=True))
    14
    """
    jobs = []
    for dataset in datasets:
        for seed in range(n_seeds):
            kinds = ["teacher", "stages"]
            kinds += ["ablation"] if seed < ABLATION_SEEDS else []
            kinds += ["sketch", "pruning", "distilled", "others"] if has_curve else []
            kinds += ["grouped"] if dataset in GROUPED else []
            kinds += ["convergence"] if seed == 0 and not is_quick else []
            jobs += [Job(dataset, seed, kind, is_quick) for kind in kinds]
    return jobs


def teacher_of(job: Job) -> Job | None:
    """The job that a job needs: that of its teacher, or none if it is one.

    >>> print(teacher_of(Job("abalone", 1, "stages")))
    abalone teacher, seed 1
    """
    return None if job.kind == "teacher" else replace(job, kind="teacher")


def run_jobs(jobs: list[Job], store: Store, cache: Path, *, n_workers: int = 2, progress: bool = True) -> None:
    """Run those jobs whose result is not stored yet."""
    any_jobs.run_jobs(
        jobs,
        store,
        partial(run_job, cache=cache),
        title="the paper's experiments",
        seconds_of=lambda job: SECONDS[job.kind],
        needed_by=teacher_of,
        n_workers=n_workers,
        progress=progress,
    )


def run_job(job: Job, cache: Path) -> dict[str, Any]:
    """What one job finds, with the seconds it took."""
    from .case import PaperCase

    started = time.perf_counter()
    case = PaperCase(job, cache, is_grouped=job.kind == "grouped")
    found = _function(job.kind)(case)
    return {"found": found, "seconds": time.perf_counter() - started}


def _function(kind: str) -> Callable[[Any], dict[str, Any]]:
    from . import ablation, frontier, stages

    return {
        "teacher": stages.teacher_job,
        "stages": stages.stages_job,
        "grouped": stages.grouped_job,
        "convergence": stages.convergence_job,
        "ablation": ablation.ablation_job,
        "sketch": frontier.sketch_job,
        "pruning": frontier.pruning_job,
        "distilled": frontier.distilled_job,
        "others": frontier.others_job,
    }[kind]
