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
    from .demo import demo
    from .paper import paper

    app = typer.Typer(
        help="Turn any trained model into a few kilobytes of counters that predict by hashing.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.command()(demo)
    app.command()(paper)
    app.add_typer(bench, name="bench")
    try:
        app()
    except RepSketchError as error:
        print(f"repsketch: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("repsketch: stopped", file=sys.stderr)
        sys.exit(130)
