"""Options that ``repsketch compress`` and ``repsketch curve`` share, and what they mean.

Takes the command line; hands on a table, a teacher, and the keywords of the library's call.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from ..checks import check_choice, check_number
from ..data.tables import Table, read_table
from ..errors import InputError, require
from ..predictor import TASKS
from ..train.clock import Clock
from .tables import check_text, with_forced_columns, with_weights
from .terminal import printable

_UNSUPPORTED = (".pt2", ".skops", ".joblib", ".pkl")

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="[MODEL] DATA", help="an .onnx file and a table; with --train only the table", show_default=False
    ),
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="column to predict: its name or number")]
Train = Annotated[bool, typer.Option("--train", help="train a teacher on the table; without MODEL")]
Task = Annotated[str | None, typer.Option(help="classification or regression, if it cannot be inferred")]
Loss = Annotated[
    str | None, typer.Option(help="of a regression: squared_error (the default), absolute_error or quantile")
]
Quantile = Annotated[float | None, typer.Option(help="level of the loss quantile, such as 0.9")]
Metric = Annotated[
    str | None, typer.Option(help="scorer of scikit-learn that sketches are chosen by, such as roc_auc or r2")
]
ClassWeight = Annotated[str | None, typer.Option(help="balanced: classes count alike, however few rows they have")]
Weights = Annotated[
    str | None, typer.Option(help="column with the weights of the rows, numbers from 0 up; not predicted from")
]
Effort = Annotated[str, typer.Option(help="fast, normal or thorough: how long to search")]
Drop = Annotated[list[str] | None, typer.Option(help="column to leave out; may be repeated")]
Use = Annotated[
    list[str] | None, typer.Option(help="column to use even if its values differ in every row; may be repeated")
]
Encoding = Annotated[str | None, typer.Option(help="encoding of CSV files that are not UTF-8, such as cp1252")]
Seed = Annotated[int, typer.Option(help="seed of everything random; the same seed gives the same bytes", min=0)]
TimeLimit = Annotated[float | None, typer.Option(help="seconds for training and search, after the table is read")]


class ModelCommand(typer.core.TyperCommand):
    """A command of a model and a table, with a usage line that shows both ways to call it."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage after the name of the command."""
        return ["[OPTIONS]", "(MODEL DATA | --train DATA)"]


@dataclass(frozen=True)
class Settings:
    """How to search, as the options say; ``check`` refuses what means nothing before a table is read."""

    task: str | None
    loss: str | None
    quantile: float | None
    metric: str | None
    class_weight: str | None
    effort: str
    seed: int
    time_limit: float | None
    progress: bool

    def __post_init__(self) -> None:
        if self.task is not None:
            check_choice("task", self.task, TASKS)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, 0.0, open_ends=True)

    def check(self) -> None:
        """Check what only the libraries of training know."""
        require("sklearn", "train")
        from ..train.effort import EFFORTS
        from ..train.goal import Goal

        Goal(self.loss, self.quantile, self.metric, None, self.class_weight)
        check_choice("effort", self.effort, EFFORTS)

    def teacher(self, file: Path | None, table: Table) -> Any:
        """The model in a file with the classes of the table, or one that is trained on the table."""
        from ..teacher.default import default_teacher
        from .teachers import open_onnx

        if file is not None:
            return open_onnx(file, table, self.task)
        return default_teacher(
            table.X, table.y, self.task, seed=self.seed, time_limit=self.time_limit, progress=self.progress,
            loss=self.loss, quantile=self.quantile, sample_weight=table.weights,
        )  # fmt: skip

    def keywords(self, table: Table, clock: Clock) -> dict[str, Any]:
        """The keywords of ``compress`` and ``frontier`` for a table; they get the time that is left."""
        return {
            "task": self.task, "loss": self.loss, "quantile": self.quantile, "metric": self.metric,
            "sample_weight": table.weights, "class_weight": self.class_weight, "effort": self.effort,
            "random_state": self.seed, "time_limit": clock.limit_left, "progress": self.progress,
        }  # fmt: skip


def read_training_table(
    path: Path,
    target: str | None,
    *,
    drop: Collection[str] | None,
    use: Collection[str] | None,
    weights: str | None,
    encoding: str | None,
    needs_target: bool,
) -> Table:
    """The table with the columns that the options name, whose text a file can hold."""
    table = with_weights(read_table(path, target, drop=drop or (), encoding=encoding), weights)
    table = with_forced_columns(table, use or ())
    if needs_target and table.y is None:
        raise InputError(f"--train needs --target, the column of {table.name} to predict.")
    check_text(table)
    return table


def teacher_name(file: Path | None) -> str:
    """The teacher in tables and files."""
    return "gradient-boosted trees, trained here" if file is None else printable(file.name)


def split_files(files: list[Path], train: bool, command: str) -> tuple[Path | None, Path]:
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
            f"{command} was given {given}; allowed is MODEL DATA, an .onnx file and a table, or --train DATA."
        )
    return files[0], files[1]
