"""The command line: one file a verb."""

import sys
from typing import NoReturn


def main() -> None:
    """Run ``repsketch``; bad input ends with one line and exit code 2."""
    from ..errors import RepSketchError, require

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not know all letters of a file
    try:
        typer = require("typer", "cli")
    except RepSketchError as error:
        _end(error)
    from .bench import app as bench
    from .compress import CompressCommand, compress
    from .demo import demo
    from .inspect import inspect
    from .paper import paper
    from .predict import predict

    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

    @app.callback()
    def _root(
        version: bool = typer.Option(
            False, "--version", help="print the version and end", is_eager=True, callback=_print_version
        ),
    ) -> None:
        """Turn any trained model into a few kilobytes of counters that predict by hashing."""

    app.command(cls=CompressCommand)(compress)
    for verb in (predict, inspect, demo, paper):
        app.command()(verb)
    app.add_typer(bench, name="bench")
    try:
        app()
    except (RepSketchError, OSError) as error:  # OSError: a file that is gone, a disk that is full
        _end(error)
    except MemoryError:
        _end("the memory is too small for this table; give fewer rows or columns.")
    except KeyboardInterrupt:
        _end("stopped", code=130)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from .. import __version__

        print(f"repsketch {__version__}")
        sys.exit(0)


def _end(message: object, code: int = 2) -> NoReturn:
    from .terminal import printable

    print(f"repsketch: {printable(message)}", file=sys.stderr)
    sys.exit(code)
