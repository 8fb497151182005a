"""``repsketch predict``: predictions of a .rsk file for the rows of a table."""

import csv
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..data.tables import read_table
from ..errors import InputError, require
from ..files import check_writable, write_atomically
from ..sketch import load
from .scores import format_score, scorer_of
from .terminal import printable

ENDINGS = (".csv", ".parquet", ".npz")
ENDS = ("low", "high")  # of an interval
CONFIDENCE = 0.95


def predict(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a .rsk file")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="a table: .csv, .csv.gz, .parquet, .npz, LIBSVM")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="file to write: .csv, .parquet, .npz; without it CSV is printed"),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="add the probability of every class")] = False,
    interval: Annotated[bool, typer.Option("--interval", help="add the ends of a prediction interval")] = False,
    confidence: Annotated[
        float | None, typer.Option(help="probability that an interval holds the true value; 0.95 by default")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="column of true labels or values to score against")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="encoding of a CSV file that is not UTF-8, such as cp1252")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Predict every row of a table. Columns are found by name if the file has names; other columns are ignored."""
    if confidence is not None and not interval:
        raise InputError(f"--confidence {confidence:g} without --interval; give both.")
    if output is not None and output.suffix.lower() not in ENDINGS:
        raise InputError(f"the output is {str(output)!r}; allowed are files that end in {', '.join(ENDINGS)}.")
    if output is not None:
        check_writable(output, 0)
    if output is not None and output.suffix.lower() == ".parquet":
        require("pyarrow", "parquet")
    sketch = load(file)
    if interval and sketch.task == "classification":
        raise InputError(f"--interval, but {file.name} is a classifier; --proba gives the probability of each class.")
    known = sketch.columns
    text = [known.names[place] for place in known.categories] if known.names else []
    table = read_table(data, target, text=text, n_features=sketch.n_features, encoding=encoding)
    if not known.names and table.X.shape[1] != sketch.n_features:
        given = (
            f"{table.name} has {table.X.shape[1]} columns, but {file.name} takes {sketch.n_features} and has no names"
        )
        raise InputError(f"{given}; give these columns only, with the target split off by --target.")
    predictions = Predictions(
        sketch.predict(table.X),
        sketch.predict_proba(table.X) if proba else None,
        sketch.classes,
        sketch.predict_interval(table.X, confidence=CONFIDENCE if confidence is None else confidence)
        if interval
        else None,
    )
    facts: dict[str, Any] = {"n_rows": table.n_rows}
    if target is not None:
        assert table.y is not None
        scorer = scorer_of(sketch, table.y)
        facts |= {"metric": scorer.metric, "score": scorer.score(sketch.outputs(table.X))}
    if output is not None:
        write_atomically(output, predictions.to_bytes(output.suffix.lower()))
    if as_json:
        content = predictions.to_dict() if output is None else {"output": str(output)}
        print(json.dumps({**facts, **content}))
        return
    if output is None:
        _print_csv(predictions.to_bytes(".csv"))
    if target is not None:
        line = f"{facts['metric']} {format_score(facts['score'], sketch.task)} on {table.n_rows:,} rows"
        print(line, file=sys.stderr)


def _print_csv(content: bytes) -> None:
    """Print CSV: unchanged into a pipe or a file, escaped on a terminal, which labels must not control."""
    if sys.stdout.isatty():
        for line in content.decode().removesuffix("\n").split("\n"):
            print(printable(line))
    elif hasattr(
        sys.stdout, "buffer"
    ):  # UTF-8 in every locale; sys.stdout, unbuffered, may write less without an error
        sys.stdout.flush()
        with open(sys.stdout.fileno(), "wb", closefd=False) as file:
            file.write(content)
    else:
        sys.stdout.write(content.decode())


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions (n,), or (n, C) of several values, probabilities (n, C) of ``classes``, and ends of intervals."""

    predictions: np.ndarray
    probabilities: np.ndarray | None = None
    classes: np.ndarray | None = None
    intervals: tuple[np.ndarray, np.ndarray] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Arrays as lists, for JSON."""
        found = {"predictions": self.predictions.tolist()}
        if self.intervals is not None:
            found |= {name: end.tolist() for name, end in zip(ENDS, self.intervals, strict=True)}
        if self.probabilities is not None:
            found |= {"classes": self._labels.tolist(), "probabilities": self.probabilities.tolist()}
        return found

    def to_bytes(self, ending: str) -> bytes:
        """The content of a file.

        >>> Predictions(np.array(["a", "b"]), np.array([[0.75, 0.25], [0.5, 0.5]])).to_bytes(".csv").decode().split()
        ['prediction,probability_0,probability_1', 'a,0.75,0.25', 'b,0.5,0.5']
        """
        buffer = io.BytesIO()
        if ending == ".npz":
            arrays: dict[str, Any] = {"predictions": self.predictions}
            if self.probabilities is not None:
                arrays |= {"probabilities": self.probabilities, "classes": self._labels}
            if self.intervals is not None:
                arrays |= dict(zip(ENDS, self.intervals, strict=True))
            np.savez_compressed(buffer, **arrays)
            return buffer.getvalue()
        columns = self._columns()
        if ending == ".parquet":
            require("pyarrow.parquet", "parquet").write_table(require("pyarrow", "parquet").table(columns), buffer)
            return buffer.getvalue()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*map(_as_written, columns.values()), strict=True))
        return text.getvalue().encode()

    @property
    def _labels(self) -> np.ndarray:
        assert self.probabilities is not None
        return np.arange(self.probabilities.shape[1]) if self.classes is None else self.classes

    def _columns(self) -> dict[str, np.ndarray]:
        columns = _named("prediction", self.predictions)
        for name, end in zip(ENDS, self.intervals or (), strict=False):
            columns |= _named(name, end)
        if self.probabilities is not None:
            pairs = zip(self._labels.tolist(), self.probabilities.T, strict=True)
            columns |= {f"probability_{label}": column.astype(np.float32) for label, column in pairs}
        return columns


def _as_written(values: np.ndarray) -> list[str]:
    """Cells of a CSV file: floats with the digits that tell them apart in their precision.

    >>> _as_written(np.array([0.1, 2.0], np.float32)), _as_written(np.array([True]))
    (['0.1', '2.0'], ['true'])
    """
    texts = values.astype(str).tolist()
    return [text.lower() for text in texts] if values.dtype == bool else texts


def _named(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of a table: one called ``name``, or one for each of C outputs."""
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{place}": column for place, column in enumerate(values.T)}
