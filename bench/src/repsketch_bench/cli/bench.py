"""``repsketch bench``: measure, print a table, write JSON."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from .frontier import frontier

app = typer.Typer(help="Measure: speed against other runtimes, accuracy against bytes.", no_args_is_help=True)
_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "repsketch"


app.command()(frontier)


@app.command()
def speed(
    datasets: Annotated[list[str] | None, typer.Argument(help="a9a phishing skin susy abalone yearmsd")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file to write")] = None,
    rounds: Annotated[int, typer.Option(help="interleaved rounds")] = 15,
    queries: Annotated[int, typer.Option(help="rows a batch holds")] = 8192,
    cache: Annotated[Path, typer.Option(help="folder for trained teachers")] = _CACHE,
    instructions: Annotated[bool, typer.Option(help="count instructions with valgrind, too")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of tables")] = False,
) -> None:
    """Our sketches against onnxruntime, torch, LightGBM and emlearn: same data, one thread, one interleaved run."""
    from rich.console import Console

    from repsketch.files import write_atomically

    from ..environment import environment
    from ..instructions import instructions_of_case
    from ..sketches import build_ours
    from ..speed import bench_speed, ratio_table, speed_table

    result: dict[str, Any] = {"environment": environment()}
    result |= bench_speed(
        datasets, cache=cache, ours={"sketch": build_ours}, n_queries=queries, n_rounds=rounds, progress=not as_json
    )
    if instructions:
        for name, found in result["datasets"].items():
            found["instructions"] = instructions_of_case(name, cache)
    text = json.dumps(result, indent=1) + "\n"
    if output is not None:
        write_atomically(output, text.encode())
    if as_json:
        print(text, end="")
        return
    console = Console()
    for name, found in result["datasets"].items():
        console.print(speed_table(name, found))
    console.print(ratio_table(result))
