"""Instructions a query, counted by valgrind: exact, the same on a busy machine as on an idle one.

A C driver is run with two numbers of queries; the difference leaves out all that is done once.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from repsketch.errors import RepSketchError

from .compiled import find_compiler

FLAGS = ("-O3", "-g")
SECONDS = 600


@dataclass(frozen=True)
class Instructions:
    """Instructions a query, or None and the reason why they could not be counted."""

    per_query: float | None
    reason: str = ""


def count_instructions(
    source: str | Path,
    function: str,
    *,
    flags: Sequence[str] = (),
    counts: tuple[int, int] = (100, 300),
    arguments: Sequence[str] = (),
) -> Instructions:
    """Instructions a query spent in ``function`` and whatever it calls.

    Parameters
    ----------
    source : C source text, or the path of a C file; ``main`` predicts argv[1] queries, argv[2:] are ``arguments``
    function : must exist as a function of its own: declare it ``__attribute__((noinline))``
    flags : more for the compiler: -mavx2, -I, further C files. No AVX-512: valgrind does not know it
    counts : two numbers of queries
    """
    few, many = counts
    if refused := [flag for flag in flags if flag.startswith(("-march=native", "-mavx512", "-march=x86-64-v4"))]:
        return Instructions(None, f"flags {refused} may give AVX-512, which valgrind cannot run; use -mavx2.")
    if shutil.which("valgrind") is None:
        return Instructions(None, "valgrind is not on the PATH; install valgrind.")
    with TemporaryDirectory(prefix="repsketch-callgrind-") as folder:
        path = Path(folder) / "driver.c"
        if isinstance(source, str):
            path.write_text(source)
        else:
            path = source.resolve()
        program = Path(folder) / "driver"
        try:
            _run([find_compiler(), *FLAGS, str(path), *flags, "-o", str(program), "-lm"])
            spent = [_collected(program, function, n, arguments) for n in (few, many)]
        except (RepSketchError, OSError, subprocess.TimeoutExpired) as error:
            return Instructions(None, str(error))
    if spent[1] <= spent[0]:
        return Instructions(None, f"function {function!r} was not seen more often for {many} queries than for {few}.")
    return Instructions((spent[1] - spent[0]) / (many - few))


def _collected(program: Path, function: str, n_queries: int, arguments: Sequence[str]) -> int:
    out = program.with_name(f"callgrind.{n_queries}")
    options = ["--tool=callgrind", f"--toggle-collect={function}", f"--callgrind-out-file={out}"]
    _run(["valgrind", *options, str(program), str(n_queries), *arguments])
    total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    return int(total[1]) if total else 0


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise RepSketchError(f"{Path(command[0]).name} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
