"""The command line: one file a verb."""

import sys


def main() -> None:
    """Run ``repsketch``; bad input ends with one line and exit code 2."""
    from ..errors import RepSketchError, require

    try:
        typer = require("typer", "cli")
    except RepSketchError as error:
        print(f"repsketch: {error}", file=sys.stderr)
        sys.exit(2)
    from .bench import app as bench
    from .compress import compress
    from .demo import demo
    from .inspect import inspect
    from .paper import paper
    from .predict import predict

    app = typer.Typer(
        help="Turn any trained model into a few kilobytes of counters that predict by hashing.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for verb in (compress, predict, inspect, demo, paper):
        app.command()(verb)
    app.add_typer(bench, name="bench")
    try:
        app()
    except (RepSketchError, OSError) as error:  # OSError: a file that is gone, a disk that is full
        print(f"repsketch: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("repsketch: stopped", file=sys.stderr)
        sys.exit(130)
