"""The output folder of a command, checked before an hour of training, not after it."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import check_writable, write_atomically

METADATA_NBYTES = 1 << 16  # of names, labels and scores in a file, beyond the budget
_MAX_TRIED = 1 << 24  # bytes written to check for free space


@contextmanager
def output_folder(folder: Path, nbytes: int, names: Iterable[str]) -> Iterator[tuple[Path, ...]]:
    """Make the folder, check that ``nbytes`` can be written to each file of these names, and yield them.

    New folders are removed if the work inside fails.
    """
    made: list[Path] = []
    files = tuple(folder / name for name in names)
    try:
        try:
            for path in reversed((folder, *folder.parents)):
                if not path.is_dir():
                    path.mkdir()
                    made.append(path)
            for file in files:
                check_writable(file, min(nbytes, _MAX_TRIED))
        except (OSError, InputError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            if isinstance(error, FileExistsError):
                why = f"{str(error.filename)!r} is no folder"
            raise InputError(
                f"the output folder is {str(folder)!r}, but {files[0].name} cannot be written there: {why}; give "
                "another one with -o."
            ) from error
        yield files
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):  # not empty: another process uses it by now
                path.rmdir()
        raise


def write_json(file: Path, content: Any) -> None:
    """Write JSON in one step."""
    text = json.dumps(content, indent=1, ensure_ascii=False, default=float) + "\n"
    write_atomically(file, text.encode(errors="backslashreplace"))  # a path may have bytes that are no text
