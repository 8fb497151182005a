"""The command line: one module for each command."""

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any, NoReturn


def main() -> None:
    """Run ``repsketch``; bad input ends with one line and exit code 2."""
    from ..errors import RepSketchError, require

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not have all characters of a file
    try:
        typer = require("typer", "cli")
    except RepSketchError as error:
        _end(error)

    from .compress import compress
    from .curve import curve
    from .demo import demo
    from .inspect import inspect
    from .options import ModelCommand
    from .predict import predict

    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

    @app.callback()
    def _root(
        version: bool = typer.Option(
            False, "--version", help="print the version and end", is_eager=True, callback=_print_version
        ),
    ) -> None:
        """Turn any trained model into a few kilobytes of counters that predict by hashing."""

    app.command(cls=ModelCommand)(compress)
    app.command(cls=ModelCommand)(curve)
    for command in (predict, inspect, demo):
        app.command()(command)
    for name, plugin in _plugin_commands():
        app.add_typer(plugin, name=name) if isinstance(plugin, typer.Typer) else app.command(name)(plugin)
    try:
        app()
    except (RepSketchError, OSError) as error:  # OSError: a missing file, a full disk
        _end(error)
    except MemoryError:
        _end("there is not enough memory for this table; give fewer rows or columns.")
    except KeyboardInterrupt:
        _end("stopped", code=130)


def _plugin_commands() -> Iterator[tuple[str, Any]]:
    """Commands that installed packages add, such as repsketch-bench: functions, or Typer applications."""
    for entry in sorted(entry_points(group="repsketch.commands"), key=lambda entry: entry.name):
        yield entry.name, entry.load()


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from .. import __version__

        print(f"repsketch {__version__}")
        sys.exit(0)


def _end(message: object, code: int = 2) -> NoReturn:
    from .terminal import printable

    print(f"repsketch: {printable(message)}", file=sys.stderr)
    sys.exit(code)
