"""The output folder of ``repsketch compress``, checked before an hour of training, not after it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import InputError
from ..files import check_writable

FILES = ("model.rsk", "summary.json")
_MAX_TRIED = 1 << 24  # bytes written to check for free space


@contextmanager
def output_folder(folder: Path, nbytes: int) -> Iterator[tuple[Path, ...]]:
    """Make the folder, check that ``nbytes`` can be written to each file in it, and yield the paths of the files.

    New folders are removed if the work inside fails.
    """
    made: list[Path] = []
    try:
        try:
            for path in reversed((folder, *folder.parents)):
                if not path.is_dir():
                    path.mkdir()
                    made.append(path)
            for name in FILES:
                check_writable(folder / name, min(nbytes, _MAX_TRIED))
        except (OSError, InputError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            if isinstance(error, FileExistsError):
                why = f"{str(error.filename)!r} is no folder"
            raise InputError(
                f"the output folder is {str(folder)!r}, but {FILES[0]} cannot be written there: {why}; give another "
                "one with -o."
            ) from error
        yield tuple(folder / name for name in FILES)
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):  # not empty: another process uses it by now
                path.rmdir()
        raise
