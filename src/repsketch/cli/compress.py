"""``repsketch compress``: a trained model and a table, or a table alone, become a sketch in a folder."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..compress import compress as compress_model
from ..errors import InputError, require
from ..files import write_atomically
from ..io import to_bytes
from ..io.data import Table, read_table
from ..predictor import TASKS
from ..progress import progress_bar
from ..settings import check_choice, check_number
from ..targets import read_targets
from ..teacher import as_teacher
from ..tune.budget import parse_budget
from .summary import HELD_OUT, LEARNT, print_summary, summarize

HELD_FRACTION, MOST_HELD = 0.2, 10_000  # rows set aside to score on
_LATER = (".pt2", ".skops", ".joblib", ".pkl")


def compress(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="an .onnx file; left out with --train")],
    data: Annotated[Path | None, typer.Argument(metavar="DATA", help="a table; comes first with --train")] = None,
    target: Annotated[str | None, typer.Option("--target", "-t", help="column to predict: its name or number")] = None,
    budget: Annotated[str, typer.Option("--budget", "-b", help="bytes of the sketch at most: 700, 512B, 4KB")] = "4KB",
    output: Annotated[Path, typer.Option("--output", "-o", help="folder for model.rsk and summary.json")] = Path(
        "sketch"
    ),
    train: Annotated[bool, typer.Option("--train", help="train a teacher from the table; no MODEL then")] = False,
    task: Annotated[str | None, typer.Option(help="classification or regression, where it is not obvious")] = None,
    test: Annotated[Path | None, typer.Option(help="table to score on, instead of a fifth of DATA")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="column to leave out; may be given again")] = None,
    seed: Annotated[int, typer.Option(help="of everything random; the same one gives the same bytes", min=0)] = 0,
    time_limit: Annotated[float | None, typer.Option(help="seconds after which no further fit is begun")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the summary as JSON")] = False,
) -> None:
    """Make the best sketch of a model within a budget of bytes, and say how good it is.

    DATA is a table: .csv, .csv.gz, .tsv, .parquet, .npz or LIBSVM text. With --train it is all that is needed:

      repsketch compress --train data.csv --target income --budget 1KB -o small

      repsketch compress model.onnx data.csv --target income --budget 1KB -o small
    """
    teacher_file, data_file = _told_apart(model, data, train)
    parse_budget(budget)
    if task is not None:
        check_choice("task", task, TASKS)
    if time_limit is not None:
        check_number("time_limit", time_limit, 0.0, open_ends=True)
    _check_folder(output)
    require("torch", "train")
    require("sklearn", "train")
    from .teachers import open_onnx

    started = time.monotonic()
    table = read_table(data_file, target, drop=drop or ())
    learnt, scored = split_table(table, seed) if test is None else (table, _read_test(test, table))
    teacher = _train(learnt, task, seed, not as_json) if teacher_file is None else open_onnx(teacher_file, learnt, task)
    sketch = compress_model(
        teacher,
        learnt.X,
        learnt.y,
        budget=budget,
        random_state=seed,
        time_limit=time_limit,
        progress=not as_json,
    )
    summary = summarize(sketch, as_teacher(teacher), learnt, scored, teacher_file, time.monotonic() - started)
    summary["files"] = [str(output / name) for name in ("model.rsk", "summary.json")]
    text = json.dumps(summary, indent=1, ensure_ascii=False, default=float) + "\n"
    content = to_bytes(sketch, {"target": table.target, "teacher": summary["teacher"]["name"]})
    output.mkdir(parents=True, exist_ok=True)
    write_atomically(output / "model.rsk", content)
    write_atomically(output / "summary.json", text.encode())
    if as_json:
        print(text, end="")
    else:
        print_summary(summary)


def _told_apart(model: Path, data: Path | None, train: bool) -> tuple[Path | None, Path]:
    """The model, or None to train one, and the table."""
    if train and data is not None:
        raise InputError(f"--train with two files, {str(model)!r} and {str(data)!r}; allowed is --train DATA alone.")
    if train:
        return None, model
    ending = model.suffix.lower()
    if ending in _LATER:
        raise InputError(f"{str(model)!r}: not yet: {ending} models; export the model to .onnx, or use --train DATA.")
    if ending != ".onnx" or data is None:
        given = " and ".join(repr(str(path)) for path in (model, data) if path is not None)
        raise InputError(
            f"compress was given {given}; allowed is MODEL DATA, an .onnx file and a table, or --train DATA."
        )
    return model, data


def _check_folder(folder: Path) -> None:
    """Refuse before an hour has passed what could not be written after it."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        why = "nothing can be written there" if there.is_dir() else f"{str(there)!r} is a file"
        raise InputError(f"the output folder is {str(folder)!r}, but {why}; give another one with -o.")


def split_table(table: Table, seed: int) -> tuple[Table, Table]:
    """Rows to learn from and rows to score on; the same ones where there are too few to spare any."""
    order = np.random.default_rng([seed, 11]).permutation(table.n_rows)
    n_held = min(int(HELD_FRACTION * table.n_rows), MOST_HELD)
    if n_held == 0:
        return table, replace(table, name=LEARNT)
    held = replace(table.take(np.sort(order[:n_held])), name=HELD_OUT)
    return table.take(np.sort(order[n_held:])), held


def _read_test(path: Path, table: Table) -> Table:
    test = read_table(path, table.target, text=table.text_columns, n_features=table.X.shape[1])
    return replace(test.ordered_as(table), name=f"rows of {test.name}")


def _train(table: Table, task: str | None, seed: int, progress: bool) -> Any:
    """A scikit-learn model, fitted to the table."""
    from .teachers import train_teacher

    if table.y is None:
        raise InputError(f"--train needs --target, the column of {table.name} to predict.")
    found = read_targets(None, table.X, table.y, task, table.n_rows).task
    with progress_bar("training a teacher", None, enabled=progress):
        return train_teacher(table.X, table.y, found, seed)
