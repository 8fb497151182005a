"""Runs jobs in two processes, a teacher before what needs it, and keeps what each finds as soon as it is found."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import RepSketchError
from ...progress import progress_bar
from .store import Job, Store

#: Kinds of jobs with about how many seconds one takes on one core: the progress bar's units, longest first.
SECONDS = {"teacher": 6, "pruning": 45, "sketch": 45, "ablation": 45, "distilled": 35, "convergence": 30, "stages": 25,
           "others": 20, "grouped": 18}  # fmt: skip
#: Threads of numerical libraries: with two in each of two workers the same work took a fifth longer.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
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


def run_jobs(jobs: list[Job], store: Store, cache: Path, *, n_workers: int = 2, progress: bool = True) -> None:
    """Run those jobs whose result is not kept yet."""
    kept = {job for job in jobs if store.find(job) is not None}
    waiting = sorted((job for job in jobs if job not in kept), key=lambda job: -SECONDS[job.kind])
    total = sum(SECONDS[job.kind] for job in jobs)
    done = {(job.dataset, job.seed) for job in kept if job.kind == "teacher"}
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(n_workers, mp_context=context, initializer=_start)
    threads = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))  # for the workers, whose libraries read it when they are loaded
    running: dict[Future, Job] = {}
    try:
        with progress_bar("the paper's experiments", total, enabled=progress) as bar:
            bar.advance(sum(SECONDS[job.kind] for job in kept))
            while waiting or running:
                for job in _ready(waiting, done)[: n_workers - len(running)]:
                    waiting.remove(job)
                    with _ctrl_c_waits():
                        running[executor.submit(run_job, job, cache)] = job
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    job = running.pop(future)
                    store.keep(job, _result(future, job))
                    if job.kind == "teacher":
                        done.add((job.dataset, job.seed))
                    bar.advance(SECONDS[job.kind], note=str(job))
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()  # what is kept stays; the rest is done again next time
        raise
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for name, before in threads.items():
            os.environ.pop(name) if before is None else os.environ.update({name: before})


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Ctrl-C is heard a moment later: a worker that is left half started ends with a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


def _ready(waiting: list[Job], done: set[tuple[str, int]]) -> list[Job]:
    """Jobs that may start: teachers, and what has its teacher; those first that others wait for."""
    ready = [job for job in waiting if job.kind == "teacher" or (job.dataset, job.seed) in done]
    return sorted(ready, key=lambda job: job.kind != "teacher")


def _result(future: Future, job: Job) -> dict[str, Any]:
    try:
        return future.result()
    except Exception as error:
        raise RepSketchError(f"{job}: {type(error).__name__}: {error}") from error


def _start() -> None:
    """In every worker: one thread, Ctrl-C is for the parent, and nobody works on when the parent was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import torch  # after that: it takes seconds

    torch.set_num_threads(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
