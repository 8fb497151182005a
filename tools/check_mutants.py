"""Put faults into the code, one at a time, and see whether the fast tests notice: ``python tools/check_mutants.py``.

Faults are listed in ``mutants.toml``, each with the tests that should notice it. Files are changed in place and
restored, also after Ctrl-C or a kill, so the working tree must be clean. The tests must pass without any fault, so they
are run once before. Faults in C are seen by tests that compile the C files themselves.

The exit code is 1 if fewer than 95 % are noticed, or if a fault of the kinds "honesty" and "leak" is not.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).parent.parent
LIST = Path(__file__).with_name("mutants.toml")
MIN_SHARE = 0.95
#: Every fault of these kinds must be noticed.
STRICT_KINDS = ("honesty", "leak")
#: What takes seconds to import, and is imported once for all faults; nothing of this repository.
LIBRARIES = (
    "scipy.linalg", "scipy.sparse", "scipy.special", "torch", "sklearn.ensemble", "sklearn.linear_model", "lightgbm",
    "pandas", "polars", "pyarrow.parquet", "narwhals", "typer", "rich.table",
)  # fmt: skip
MAX_SECONDS = 600  # of one run of pytest; a fault that makes it take longer is noticed
_CRASHES = {-number for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGILL)}
_COLLECTION = re.compile(r"^(ERROR |=+ .*\berrors?\b)", re.MULTILINE)


def read_mutants() -> list[dict[str, Any]]:
    """The faults: name, kind, file, old and new text, and tests."""
    return tomllib.loads(LIST.read_text())["mutant"]


def is_red(code: int, printed: str) -> bool:
    """True if an exit code of pytest says that the tests noticed something, False if they passed.

    A crash is noticed, and so is an error during collection, such as an import that fails. Anything else is a mistake
    of this tool or of its list: no tests, wrong arguments, an interrupted run.

    >>> is_red(0, "3 passed"), is_red(1, "1 failed"), is_red(-11, "")
    (False, True, True)
    """
    if code in (0, 1):
        return code == 1
    if code in _CRASHES or (code == 2 and _COLLECTION.search(printed)):
        return True
    raise SystemExit(f"pytest ended with {code}, which says nothing about the code:\n{printed[-2000:]}")


def run_tests(tests: Iterable[str], root: Path = ROOT) -> bool:
    """True if a test fails, in a copy of this process, which has imported the libraries already."""
    with TemporaryFile() as log:
        child = os.fork()
        if child == 0:
            _run_pytest(["-q", "-x", "--tb=line", *tests], root, log.fileno())
        try:
            code = _wait_for(child)
        except BaseException:
            os.killpg(child, signal.SIGKILL)  # and the compilers that it started
            os.waitpid(child, 0)
            raise
        log.seek(0)
        return code is None or is_red(code, log.read().decode(errors="replace"))


def _run_pytest(arguments: list[str], root: Path, log: int) -> NoReturn:
    code = 3
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(root)
        sys.path[0] = str(root)  # as ``python -m pytest``
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # no compiled fault stays behind
        sys.dont_write_bytecode = True
        code = int(pytest.main(arguments))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait_for(child: int) -> int | None:
    """The exit code of a child, as ``subprocess`` has it; None if it took too long, and is ended."""
    end = time.monotonic() + MAX_SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def import_libraries() -> None:
    """Import what tests will need."""
    os.environ.setdefault("SCIPY_ARRAY_API", "1")  # as conftest.py, before SciPy is imported
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)


@contextmanager
def applied(mutant: dict[str, Any], root: Path = ROOT) -> Iterator[None]:
    """Inside, the file has the fault; afterwards it is as it was, with its old time stamp."""
    path = root / mutant["file"]
    content, status = path.read_bytes(), path.stat()
    text = content.decode()
    if text.count(mutant["old"]) != 1:
        raise SystemExit(f"{mutant['name']}: the text occurs {text.count(mutant['old'])} times in {mutant['file']}")
    try:
        path.write_bytes(text.replace(mutant["old"], mutant["new"]).encode())
        yield
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def table_of(found: Counter[tuple[str, bool]]) -> str:
    """Faults and noticed faults of each kind, and in all.

    >>> print(table_of(Counter({("leak", True): 3, ("c", True): 1, ("c", False): 1})))
    kind  faults  noticed
    c          2     50 %
    leak       3    100 %
    all        5     80 %
    """
    kinds = sorted({kind for kind, _ in found})
    counts = {kind: (found[kind, True], found[kind, True] + found[kind, False]) for kind in kinds}
    counts["all"] = (sum(red for red, _ in counts.values()), sum(n for _, n in counts.values()))
    width = max(map(len, counts))
    lines = [f"{kind:<{width}}  {n:>6}  {100 * red // max(n, 1):>5} %" for kind, (red, n) in counts.items()]
    return "\n".join([f"{'kind':<{width}}  faults  noticed", *lines])


def is_enough(found: Counter[tuple[str, bool]]) -> bool:
    """True if as many faults were noticed as must be."""
    n_red = sum(count for (_, red), count in found.items() if red)
    return n_red >= MIN_SHARE * found.total() and not any(found[kind, False] for kind in STRICT_KINDS)


def selected(mutants: list[dict[str, Any]], words: list[str]) -> list[dict[str, Any]]:
    """The faults of the kinds among these words, and those with another of the words in their name or file.

    >>> [mutant["name"] for mutant in selected([{"kind": "c", "name": "a crack", "file": "a.c"}], ["c", "crack"])]
    ['a crack']
    """
    kinds = {mutant["kind"] for mutant in mutants}
    others = [word for word in words if word not in kinds]
    return [m for m in mutants if m["kind"] in words or any(word in f"{m['name']} {m['file']}" for word in others)]


def _end(number: int, _: Any) -> None:
    raise SystemExit(f"ended by signal {number}")


def main() -> int:
    """Print a line for each fault, and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "words", nargs="*", help="only faults of these kinds, or with such a word in their name or file"
    )
    parser.add_argument("--trust", action="store_true", help="do not run the tests without faults first")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)
    dirty = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout
    if dirty.strip():
        raise SystemExit(f"the working tree is not clean; commit or stash first:\n{dirty}")
    mutants = read_mutants()
    if arguments.words:
        mutants = selected(mutants, arguments.words)
    if not mutants:
        raise SystemExit(f"no fault contains any of {arguments.words}.")
    import_libraries()
    if not arguments.trust and run_tests(sorted({test for mutant in mutants for test in mutant["tests"]})):
        raise SystemExit("the tests fail without any fault; mend them first.")
    found: Counter[tuple[str, bool]] = Counter()
    for mutant in mutants:
        started = time.monotonic()
        with applied(mutant):
            red = run_tests(mutant["tests"])
        found[mutant["kind"], red] += 1
        seconds = time.monotonic() - started
        print(f"{'red' if red else 'SURVIVED':<8}  {mutant['kind']:<8}  {seconds:4.0f} s  {mutant['name']}", flush=True)
    print(f"\n{table_of(found)}")
    return int(not is_enough(found))


if __name__ == "__main__":
    sys.exit(main())
