"""What a job of the paper's experiments is, and under which name its result is stored."""

import hashlib
import os
from dataclasses import asdict, dataclass

from ..jobs import Store
from .settings import SETTINGS

__all__ = ["REVISION", "Job", "Store"]

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
