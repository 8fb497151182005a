"""Python processes in which some libraries cannot be imported, as if they were not installed."""

import subprocess
import sys

_BLOCKER = """
import sys
import warnings

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {libraries!r}:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocker())
"""


def run_without(libraries: set[str], script: str, *arguments: str, timeout: float = 60, strict: bool = True) -> str:
    """What ``script`` prints; it must end without an error and, if ``strict``, without a warning."""
    warnings = ["-W", "error"] if strict else []
    command = [sys.executable, *warnings, "-c", _BLOCKER.format(libraries=libraries) + script, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, result.stderr
    return result.stdout
