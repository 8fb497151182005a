"""What finished jobs found, one small JSON file each: a run that is stopped and started again goes on from them."""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...files import write_atomically
from .settings import SETTINGS

#: Raised by hand when the code of a job comes to compute something else: old results are then not taken for new ones.
REVISION = 4


@dataclass(frozen=True, order=True)
class Job:
    """One piece of work: what to do (``kind``) for one dataset and one seed."""

    dataset: str
    seed: int
    kind: str
    is_quick: bool = False

    def __str__(self) -> str:
        return f"{self.dataset} {self.kind}, seed {self.seed}"

    @property
    def key(self) -> str:
        """A file name that changes with the job, the settings of its dataset and ``REVISION``.

        >>> Job("a9a", 0, "teacher").key == Job("a9a", 0, "teacher", is_quick=True).key
        False
        """
        settings = SETTINGS[self.dataset]
        what = repr((REVISION, asdict(self), settings, settings.distill, bool(os.environ.get("REPSKETCH_DATA"))))
        return f"{self.dataset}-{self.kind}-{self.seed}-{hashlib.sha256(what.encode()).hexdigest()[:16]}"


class Store:
    """A folder of results."""

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder)

    def find(self, job: Job) -> dict[str, Any] | None:
        """What a finished job found, or None; a file that cannot be read counts as none."""
        try:
            return json.loads((self.folder / f"{job.key}.json").read_text())
        except (OSError, ValueError):
            return None

    def keep(self, job: Job, result: dict[str, Any]) -> None:
        """Keep what a job found."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / f"{job.key}.json", (json.dumps(result, indent=1) + "\n").encode())
