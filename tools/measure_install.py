"""What a fresh install downloads and occupies: ``python tools/measure_install.py [EXTRAS] [--limit MB]``.

Builds a wheel of this checkout, collects the wheels of everything it needs in a temporary folder, installs them into an
empty virtual environment there, and prints a line for every distribution. Versions are those of ``constraints.txt``.
Exit code 1 if more megabytes (of a million bytes) than the limit are installed.
"""

import argparse
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parent.parent
MB = 1_000_000
#: What an empty virtual environment has already.
PRESENT = ("pip", "setuptools")


def run_pip(python: Path, *arguments: str | Path) -> None:
    """Run pip; what it prints is seen only if it fails."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")


def install(folder: Path, extras: str) -> tuple[dict[str, int], Path]:
    """Bytes of every wheel by the name of its distribution, and the folder of the installed packages."""
    environment, wheels = folder / "environment", folder / "wheels"
    venv.create(environment, with_pip=True)
    python = next(path for path in (environment / "bin/python", environment / "Scripts/python.exe") if path.exists())
    constraints = ROOT / "constraints.txt"
    run_pip(python, "wheel", "-w", wheels, "-c", constraints, f"{ROOT}[{extras}]")
    run_pip(python, "install", "--no-index", "--find-links", wheels, "-c", constraints, f"repsketch[{extras}]")
    sizes = {normalised(wheel.name.split("-")[0]): wheel.stat().st_size for wheel in wheels.glob("*.whl")}
    return sizes, next(environment.rglob("site-packages"))


def normalised(name: str) -> str:
    """A distribution's name as it is written everywhere, such as scikit-learn.

    >>> normalised("scikit_learn")
    'scikit-learn'
    """
    return name.lower().replace("_", "-").replace(".", "-")


def installed_nbytes(distribution: Distribution) -> int:
    """Bytes of all files that a distribution brought, with the byte code that was compiled from them."""
    paths = (Path(str(distribution.locate_file(file))) for file in distribution.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="?", default="train,cli", help="such as train,cli, which is the default")
    parser.add_argument("--limit", type=float, metavar="MB", help="exit code 1 if more is installed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="repsketch-install-") as folder:
        wheels, packages = install(Path(folder), arguments.extras)
        found = {normalised(each.name): each for each in distributions(path=[str(packages)])}
        rows = [
            (name, each.version, wheels.get(name, 0), installed_nbytes(each))
            for name, each in found.items()
            if name not in PRESENT
        ]
    rows.sort(key=lambda row: -row[3])
    rows.append((f"{len(rows)} packages", "", sum(row[2] for row in rows), sum(row[3] for row in rows)))
    print(f"{'repsketch[' + arguments.extras + ']':<28} {'version':<12} {'download MB':>11} {'installed MB':>12}")
    for name, version, download, installed in rows:
        print(f"{name:<28} {version:<12} {download / MB:11.1f} {installed / MB:12.1f}")
    return int(arguments.limit is not None and rows[-1][3] > arguments.limit * MB)


if __name__ == "__main__":
    sys.exit(main())
