"""Commands run as ``repsketch`` runs them, in this process: a new one takes seconds to import everything."""

import contextlib
import io
import sys
from dataclasses import dataclass

from repsketch.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


def run(*arguments):
    """What ``repsketch`` with these arguments prints and ends with."""
    before, sys.argv = sys.argv, ["repsketch", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    return Result(code, out.getvalue(), err.getvalue())
