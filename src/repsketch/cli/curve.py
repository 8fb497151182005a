"""``repsketch curve``: accuracy against bytes for a model and a table, as a table, a plot and files."""

import io
import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..curve import Frontier
from ..errors import MissingExtraError, require
from ..files import write_atomically
from ..frontier import BUDGETS, parse_budgets
from ..frontier import frontier as find_frontier
from ..progress import log_to_stderr
from ..train.clock import Clock
from .folder import METADATA_NBYTES, output_folder, write_json
from .options import (
    ClassWeight,
    Drop,
    Effort,
    Encoding,
    Files,
    Loss,
    Metric,
    Quantile,
    Seed,
    Settings,
    Target,
    Task,
    TimeLimit,
    Train,
    Use,
    Weights,
    read_training_table,
    split_files,
    teacher_name,
)
from .tables import thinned
from .terminal import printable, screen

SUMMARY, PLOTS = "curve.json", ("curve.svg", "curve.png")
DOTS_PER_INCH = 150


def curve(
    files: Files,
    target: Target = None,
    budgets: Annotated[str, typer.Option("--budgets", "-b", help="budgets in bytes, with commas")] = ",".join(BUDGETS),
    output: Annotated[
        Path, typer.Option("--output", "-o", help="folder for curve.json, the plot, and a sketch for each budget")
    ] = Path("curve"),
    train: Train = False,
    task: Task = None,
    loss: Loss = None,
    quantile: Quantile = None,
    metric: Metric = None,
    class_weight: ClassWeight = None,
    weights: Weights = None,
    effort: Effort = "normal",
    drop: Drop = None,
    use: Use = None,
    encoding: Encoding = None,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    as_json: Annotated[bool, typer.Option("--json", help="print curve.json")] = False,
) -> None:
    """Compress a model to several budgets, and show accuracy against bytes with other models beside it.

    Scores are those of validation rows, a fifth of DATA:

      repsketch curve --train data.csv --target income --budgets 256B,1KB,4KB -o curve
    """
    log_to_stderr()
    teacher_file, data_file = split_files(files, train, "curve")
    sizes = parse_budgets([budget for budget in budgets.split(",") if budget.strip()])
    settings = Settings(task, loss, quantile, metric, class_weight, effort, seed, time_limit, progress=not as_json)
    names = (SUMMARY, *PLOTS, *map(sketch_name, sizes))
    with output_folder(output, sizes[-1] + METADATA_NBYTES, names):
        settings.check()
        full = read_training_table(
            data_file, target, drop=drop, use=use, weights=weights, encoding=encoding, needs_target=train
        )
        started, clock = time.monotonic(), Clock(time_limit)
        table = full if time_limit is None else thinned(full, time_limit, seed)
        teacher = settings.teacher(teacher_file, table)
        found = find_frontier(teacher, table.X, table.y, budgets=sizes, **settings.keywords(table, clock))
        contents = {
            sketch_name(budget): sketch.to_bytes({"target": table.target, "teacher": teacher_name(teacher_file)})
            for budget, sketch in found.sketches.items()
        }
        contents |= plots_of(found)
        summary = {
            **summary_of(found),
            "target": table.target,
            "teacher": {"name": teacher_name(teacher_file), "score": found.teacher_score},
            "n_left_out": full.n_rows - table.n_rows,
            "seconds": round(time.monotonic() - started, 1),
            "files": [str(output / name) for name in (*contents, SUMMARY)],
        }
        for name, content in contents.items():
            write_atomically(output / name, content)
        write_json(output / SUMMARY, summary)
    if as_json:
        print(json.dumps(summary, indent=1, default=float))
    else:
        print_curve(found, summary)


def sketch_name(budget: int) -> str:
    """The file of a budget's sketch."""
    return f"model-{budget}.rsk"


def summary_of(found: Frontier) -> dict[str, Any]:
    """What ``curve.json`` says about the scores."""
    first = found.first
    return {
        "task": next(iter(found.sketches.values())).task,
        "metric": found.metric,
        "scored_on": f"{first.scored_on} rows",
        "n_rows": first.n_rows,
        "rows": found.rows,
        "too_small": list(found.too_small),
    }


def plots_of(found: Frontier) -> dict[str, bytes]:
    """The plot as an SVG and a PNG file; none where matplotlib is not installed."""
    try:
        matplotlib = require("matplotlib", "plot")
    except MissingExtraError:
        return {}
    figure = require("matplotlib.figure", "plot").Figure(figsize=(7, 4.5), layout="constrained")
    found.plot(figure.subplots())
    plots = {}
    with matplotlib.rc_context({"svg.hashsalt": "repsketch"}):  # the same curve gives the same file
        for name in PLOTS:
            buffer, ending = io.BytesIO(), name.rpartition(".")[2]
            metadata = {"Date": None} if ending == "svg" else {}
            figure.savefig(buffer, format=ending, dpi=DOTS_PER_INCH, metadata=metadata)
            plots[name] = buffer.getvalue()
    return plots


def print_curve(found: Frontier, summary: dict[str, Any]) -> None:
    """The table and a few lines."""
    from rich.table import Table as Grid

    console = screen()
    what = f"{summary['task']} of {summary['target'] or 'the outputs of the teacher'}"
    console.print(printable(f"{what}; teacher: {summary['teacher']['name']}"), soft_wrap=True)
    titles, *lines = found.table()
    grid = Grid(*map(printable, titles))
    for column in grid.columns:
        column.justify = "right"
    for line in lines:
        grid.add_row(*line)
    console.print(grid)
    notes = found.notes()
    if summary["n_left_out"]:
        notes.append(f"{summary['n_left_out']:,} rows were left out because of the time limit.")
    if not any(file.endswith(PLOTS) for file in summary["files"]):
        notes.append("no plot, as matplotlib is not installed; run: pip install 'repsketch[plot]'")
    notes.append(f"{summary['seconds']:g} s; written: {', '.join(summary['files'])}")
    for note in notes:
        console.print(printable(note), soft_wrap=True)
