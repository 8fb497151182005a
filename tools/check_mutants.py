"""Put faults into the code, one at a time, and see whether the fast tests notice: ``python tools/check_mutants.py``.

Faults are listed in ``mutants.toml``. Files are changed in place and restored, also after Ctrl-C, so the working tree
must be clean. Faults in C are seen by tests that compile ``native/`` themselves.
"""

import argparse
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIST = Path(__file__).with_name("mutants.toml")


def run_tests(tests: list[str]) -> bool:
    """True if a test fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"pytest gave {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.returncode != 0


def check(mutant: dict) -> tuple[bool, float]:
    """Whether the tests notice a fault, and the seconds they took."""
    path = ROOT / mutant["file"]
    text = path.read_text()
    if text.count(mutant["old"]) != 1:
        raise SystemExit(f"{mutant['name']}: the text occurs {text.count(mutant['old'])} times in {mutant['file']}")
    started = time.monotonic()
    try:
        path.write_text(text.replace(mutant["old"], mutant["new"]))
        return run_tests(mutant["tests"]), time.monotonic() - started
    finally:
        path.write_text(text)


def main() -> int:
    """Print a table; exit code 1 if a fault was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only faults whose name or kind contains one of these words")
    arguments = parser.parse_args()
    dirty = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout
    if dirty.strip():
        raise SystemExit(f"the working tree is not clean; commit or stash first:\n{dirty}")
    mutants = tomllib.loads(LIST.read_text())["mutant"]
    if arguments.words:
        mutants = [m for m in mutants if any(word in f"{m['kind']} {m['name']}" for word in arguments.words)]
    found: Counter[tuple[str, bool]] = Counter()
    for mutant in mutants:
        is_red, seconds = check(mutant)
        found[mutant["kind"], is_red] += 1
        print(
            f"{'red' if is_red else 'SURVIVED':<8}  {mutant['kind']:<8}  {seconds:4.0f} s  {mutant['name']}", flush=True
        )
    n_red = sum(count for (_, is_red), count in found.items() if is_red)
    print(f"{n_red} of {len(mutants)} faults were noticed ({n_red / max(1, len(mutants)):.0%})")
    return int(n_red < len(mutants))


if __name__ == "__main__":
    sys.exit(main())
