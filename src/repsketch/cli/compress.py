"""``repsketch compress``: a trained model and a table, or a table alone, become a sketch in a folder."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from ..checks import check_choice, check_number
from ..compress import compress as compress_model
from ..data.tables import read_table
from ..errors import InputError, require
from ..files import write_atomically
from ..predictor import TASKS
from ..progress import log_to_stderr
from ..teacher import as_teacher
from ..train.budget import parse_budget
from ..train.clock import Clock
from .folder import output_folder
from .summary import print_summary, summarize
from .tables import check_text, read_test, split_table, thinned, with_forced_columns, with_weights
from .terminal import printable

_UNSUPPORTED = (".pt2", ".skops", ".joblib", ".pkl")
_METADATA_NBYTES = 1 << 16  # of names, labels and scores in a file, beyond the budget


class CompressCommand(typer.core.TyperCommand):
    """The command, with a usage line that shows both ways to call it."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage after the name of the command."""
        return ["[OPTIONS]", "(MODEL DATA | --train DATA)"]


def compress(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[MODEL] DATA", help="an .onnx file and a table; with --train only the table", show_default=False
        ),
    ],
    target: Annotated[str | None, typer.Option("--target", "-t", help="column to predict: its name or number")] = None,
    budget: Annotated[
        str, typer.Option("--budget", "-b", help="bytes of the sketch on a device, at most: 700, 512B, 1.5KB, 1MB")
    ] = "4KB",
    output: Annotated[Path, typer.Option("--output", "-o", help="folder for model.rsk and summary.json")] = Path(
        "sketch"
    ),
    train: Annotated[bool, typer.Option("--train", help="train a teacher on the table; without MODEL")] = False,
    task: Annotated[str | None, typer.Option(help="classification or regression, if it cannot be inferred")] = None,
    loss: Annotated[
        str | None, typer.Option(help="of a regression: squared_error (the default), absolute_error or quantile")
    ] = None,
    quantile: Annotated[float | None, typer.Option(help="level of the loss quantile, such as 0.9")] = None,
    metric: Annotated[
        str | None, typer.Option(help="scorer of scikit-learn that sketches are chosen by, such as roc_auc or r2")
    ] = None,
    class_weight: Annotated[
        str | None, typer.Option(help="balanced: classes count alike, however few rows they have")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="column with the weights of the rows, numbers from 0 up; not predicted from")
    ] = None,
    effort: Annotated[str, typer.Option(help="fast, normal or thorough: how long to search")] = "normal",
    test: Annotated[Path | None, typer.Option(help="table of test rows; by default a fifth of DATA")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="column to leave out; may be repeated")] = None,
    use: Annotated[
        list[str] | None, typer.Option(help="column to use even if its values differ in every row; may be repeated")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="encoding of CSV files that are not UTF-8, such as cp1252")
    ] = None,
    seed: Annotated[int, typer.Option(help="seed of everything random; the same seed gives the same bytes", min=0)] = 0,
    time_limit: Annotated[
        float | None, typer.Option(help="seconds for training and search, after the table is read")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the summary as JSON")] = False,
) -> None:
    """Compress a model to the best sketch within a budget of bytes, and report its score.

    DATA is a table: .csv, .csv.gz, .tsv, .parquet, .npz or LIBSVM text. With --train it is the only input:

      repsketch compress --train data.csv --target income --budget 1KB -o small

      repsketch compress model.onnx data.csv --target income --budget 1KB -o small
    """
    log_to_stderr()
    teacher_file, data_file = _split_arguments(files, train)
    nbytes = parse_budget(budget)
    if task is not None:
        check_choice("task", task, TASKS)
    if time_limit is not None:
        check_number("time_limit", time_limit, 0.0, open_ends=True)
    with output_folder(output, nbytes + _METADATA_NBYTES) as (sketch_file, summary_file):
        require("sklearn", "train")
        from ..teacher.default import default_teacher
        from ..train.effort import EFFORTS
        from ..train.goal import Goal
        from .teachers import open_onnx

        Goal(loss, quantile, metric, None, class_weight)
        check_choice("effort", effort, EFFORTS)
        table = read_table(data_file, target, drop=drop or (), encoding=encoding)
        table = with_forced_columns(with_weights(table, weights), use or ())
        if train and table.y is None:
            raise InputError(f"--train needs --target, the column of {table.name} to predict.")
        check_text(table)
        train_table, test_table = (
            split_table(table, seed) if test is None else (table, read_test(test, table, encoding))
        )
        started, clock, n_rows = time.monotonic(), Clock(time_limit), train_table.n_rows
        if time_limit is not None:
            train_table = thinned(train_table, time_limit, seed)
        if teacher_file is None:
            teacher = default_teacher(
                train_table.X, train_table.y, task, seed=seed, time_limit=time_limit, progress=not as_json,
                loss=loss, quantile=quantile, sample_weight=train_table.weights,
            )  # fmt: skip
        else:
            teacher = open_onnx(teacher_file, train_table, task)
        sketch = compress_model(
            teacher,
            train_table.X,
            train_table.y,
            budget=nbytes,
            task=task,
            loss=loss,
            quantile=quantile,
            metric=metric,
            sample_weight=train_table.weights,
            class_weight=class_weight,
            effort=effort,
            random_state=seed,
            time_limit=clock.limit_left,
            progress=not as_json,
        )
        name = "gradient-boosted trees, trained here" if teacher_file is None else printable(teacher_file.name)
        content = sketch.to_bytes({"target": table.target, "teacher": name})
        summary = {
            **summarize(sketch, as_teacher(teacher), train_table, test_table, teacher_file, quantile),
            "n_left_out": n_rows - train_table.n_rows,
            "sizes": {"budget": nbytes, "device": sketch.nbytes, "file": len(content)},
            "seconds": round(time.monotonic() - started, 1),
            "files": [str(sketch_file), str(summary_file)],
        }
        summary["teacher"]["name"] = name
        text = json.dumps(summary, indent=1, ensure_ascii=False, default=float) + "\n"
        write_atomically(sketch_file, content)
        write_atomically(summary_file, text.encode(errors="backslashreplace"))  # a path may have bytes that are no text
    if as_json:
        print(json.dumps(summary, indent=1, default=float))
    else:
        print_summary(summary)


def _split_arguments(files: list[Path], train: bool) -> tuple[Path | None, Path]:
    """The path of the model, or None to train one, and the path of the table."""
    given = " and ".join(repr(str(path)) for path in files)
    if train and len(files) != 1:
        raise InputError(f"--train with several files, {given}; allowed is --train DATA alone.")
    if train:
        return None, files[0]
    ending = files[0].suffix.lower()
    if ending in _UNSUPPORTED:
        raise InputError(
            f"{str(files[0])!r}: {ending} models are not supported yet; export the model to .onnx, or use --train DATA."
        )
    if ending != ".onnx" or len(files) != 2:
        raise InputError(
            f"compress was given {given}; allowed is MODEL DATA, an .onnx file and a table, or --train DATA."
        )
    return files[0], files[1]
