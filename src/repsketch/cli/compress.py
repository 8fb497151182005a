"""``repsketch compress``: a trained model and a table, or a table alone, become a sketch in a folder."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from ..compress import DEFAULT_BUDGET, LARGEST_SIZE, check_size
from ..compress import compress as compress_model
from ..files import write_atomically
from ..progress import log_to_stderr
from ..teacher import as_teacher
from ..train.budget import parse_budget
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
from .summary import print_summary, summarize
from .tables import read_test, split_table, thinned

FILES = ("model.rsk", "summary.json")


def compress(
    files: Files,
    target: Target = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget", "-b", help="bytes of the sketch on a device, at most: 700, 512B, 1.5KB, 1MB; 4KB by default"
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="in place of a budget: how much of the teacher's score a sketch may lose, such as 0.005"),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="folder for model.rsk and summary.json")] = Path(
        "sketch"
    ),
    train: Train = False,
    task: Task = None,
    loss: Loss = None,
    quantile: Quantile = None,
    metric: Metric = None,
    class_weight: ClassWeight = None,
    weights: Weights = None,
    effort: Effort = "normal",
    test: Annotated[Path | None, typer.Option(help="table of test rows; by default a fifth of DATA")] = None,
    drop: Drop = None,
    use: Use = None,
    encoding: Encoding = None,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the summary as JSON")] = False,
) -> None:
    """Compress a model to the best sketch within a budget of bytes, and report its score.

    DATA is a table: .csv, .csv.gz, .tsv, .parquet, .npz or LIBSVM text. With --train it is the only input:

      repsketch compress --train data.csv --target income --budget 1KB -o small

      repsketch compress model.onnx data.csv --target income --tolerance 0.005 -o small
    """
    log_to_stderr()
    teacher_file, data_file = split_files(files, train, "compress")
    check_size(budget, tolerance)
    nbytes = None if tolerance is not None else parse_budget(DEFAULT_BUDGET if budget is None else budget)
    settings = Settings(task, loss, quantile, metric, class_weight, effort, seed, time_limit, progress=not as_json)
    room = (parse_budget(LARGEST_SIZE) if nbytes is None else nbytes) + METADATA_NBYTES
    with output_folder(output, room, FILES) as (sketch_file, summary_file):
        settings.check()
        table = read_training_table(
            data_file, target, drop=drop, use=use, weights=weights, encoding=encoding, needs_target=train
        )
        train_table, test_table = (
            split_table(table, seed) if test is None else (table, read_test(test, table, encoding, weights))
        )
        started, clock, n_rows = time.monotonic(), Clock(time_limit), train_table.n_rows
        if time_limit is not None:
            train_table = thinned(train_table, time_limit, seed)
        teacher = settings.teacher(teacher_file, train_table)
        sketch = compress_model(
            teacher,
            train_table.X,
            train_table.y,
            budget=nbytes,
            tolerance=tolerance,
            **settings.keywords(train_table, clock),
        )  # fmt: skip
        name = teacher_name(teacher_file)
        content = sketch.to_bytes({"target": table.target, "teacher": name})
        summary = {
            **summarize(sketch, as_teacher(teacher), train_table, test_table, teacher_file),
            "n_left_out": n_rows - train_table.n_rows,
            "sizes": {"budget": nbytes, "device": sketch.nbytes, "file": len(content)},
            "tolerance": tolerance,
            "seconds": round(time.monotonic() - started, 1),
            "files": [str(sketch_file), str(summary_file)],
        }
        summary["teacher"]["name"] = name
        write_atomically(sketch_file, content)
        write_json(summary_file, summary)
    if as_json:
        print(json.dumps(summary, indent=1, default=float))
    else:
        print_summary(summary)
