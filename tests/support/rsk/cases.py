"""How the cases of ``docs/spec/bad-files.md`` are listed: number and title, and a function that makes the files."""

from collections.abc import Callable
from dataclasses import dataclass, field

from repsketch.io import Status
from support.rsk.build import float_file, integer_file, intervals_file, kernel_file, short_file

INTEGER, FLOAT, KERNEL, INTERVALS = integer_file(), float_file(), kernel_file(), intervals_file()
SHORT = short_file()


@dataclass(frozen=True)
class Bad:
    """A file, and what both readers must say about it."""

    data: bytes
    status: Status
    limits: dict[str, int] = field(default_factory=dict)  #: other than the default ones


Maker = Callable[[], dict[str, Bad]]


def new_cases() -> tuple[dict[str, Maker], Callable[[str], Callable[[Maker], Maker]]]:
    """An empty list of cases, and the decorator that adds to it a function that makes the bad files of a case."""
    cases: dict[str, Maker] = {}

    def case(title: str) -> Callable[[Maker], Maker]:
        def add(make: Maker) -> Maker:
            assert title not in cases
            cases[title] = make
            return make

        return add

    return cases, case


def all_bad(status: Status, files: dict[str, bytes]) -> dict[str, Bad]:
    """Files that share one status."""
    return {name: Bad(data, status) for name, data in files.items()}
