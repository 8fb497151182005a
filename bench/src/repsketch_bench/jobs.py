"""Long experiments as jobs: run in several processes, each stored when it is done, so that a stopped run goes on."""

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from repsketch.errors import RepSketchError
from repsketch.files import write_atomically
from repsketch.progress import progress_bar

#: Threads of numerical libraries: with two in each of two workers the same work took a fifth longer.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Keyed(Protocol):
    """A piece of work, hashable, that its ``key`` tells from all others; it can be sent to another process."""

    @property
    def key(self) -> str:
        """A file name."""


J = TypeVar("J", bound=Keyed)


class Store:
    """A folder of results, one small JSON file a job."""

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder)

    def find(self, job: Keyed) -> dict[str, Any] | None:
        """What a finished job found, or None; a file that cannot be read counts as none."""
        try:
            return json.loads((self.folder / f"{job.key}.json").read_text())
        except (OSError, ValueError):
            return None

    def keep(self, job: Keyed, result: dict[str, Any]) -> None:
        """Store what a job found."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / f"{job.key}.json", (json.dumps(result, indent=1) + "\n").encode())


def run_jobs(
    jobs: Sequence[J],
    store: Store,
    run_job: Callable[[J], dict[str, Any]],
    *,
    title: str,
    seconds_of: Callable[[J], float],
    needed_by: Callable[[J], J | None],
    n_workers: int = 2,
    progress: bool = True,
) -> None:
    """Run those jobs whose result is not stored yet.

    Parameters
    ----------
    run_job : what a worker calls; a function that can be sent there
    seconds_of : about how long a job takes on one core: the bar's units; long ones start first
    needed_by : the job that must be done before, or None
    """
    done = {job for job in jobs if store.find(job) is not None}
    waiting = sorted((job for job in jobs if job not in done), key=lambda job: -seconds_of(job))
    executor = ProcessPoolExecutor(n_workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start)
    threads = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))  # for the workers, whose libraries read it when they are loaded
    running: dict[Future, J] = {}
    try:
        with progress_bar(title, sum(map(seconds_of, jobs)), enabled=progress) as bar:
            bar.advance(sum(map(seconds_of, done)))
            while waiting or running:
                for job in ready(waiting, done, needed_by)[: n_workers - len(running)]:
                    waiting.remove(job)
                    with _ctrl_c_waits():
                        running[executor.submit(run_job, job)] = job
                if not running:
                    raise RepSketchError(f"{waiting[0]} needs {needed_by(waiting[0])}, which is no job of this run.")
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    job = running.pop(future)
                    store.keep(job, _result(future, job))
                    done.add(job)
                    bar.advance(seconds_of(job), note=str(job))
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()  # stored results stay; the rest is done again next time
        raise
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for name, before in threads.items():
            os.environ.pop(name) if before is None else os.environ.update({name: before})


def ready(waiting: Iterable[J], done: set[J], needed_by: Callable[[J], J | None]) -> list[J]:
    """Jobs that may start, those first that need no other: others may wait for them."""
    needs = [(job, needed_by(job)) for job in waiting]
    return [job for job, need in needs if need is None] + [job for job, need in needs if need in done]


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Ctrl-C takes effect a moment later: a worker that is left half started ends with a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result(future: Future, job: Keyed) -> dict[str, Any]:
    try:
        return future.result()
    except Exception as error:
        raise RepSketchError(f"{job}: {type(error).__name__}: {error}") from error


def _start() -> None:
    """In every worker: one thread, Ctrl-C is for the parent, and workers end when the parent was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import torch  # after that: it takes seconds

    torch.set_num_threads(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
