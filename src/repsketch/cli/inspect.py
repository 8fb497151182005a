"""``repsketch inspect``: what a .rsk file holds."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..data.table_target import listed
from ..io import describe
from .terminal import printable, screen


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a .rsk file")],
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show what a .rsk file holds: its outputs, inputs, rows and sizes."""
    facts = describe(file)
    if as_json:
        print(json.dumps(facts, indent=1))  # in ASCII: a terminal shows it, and scripts read the same
        return
    from rich.table import Table

    grid = Table(title=printable(file), show_header=False, title_justify="left")
    for name, text in lines_of(facts):
        grid.add_row(printable(name), printable(text))
    screen().print(grid)


def lines_of(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts as pairs of name and text, one for each line."""
    lines = [
        ("predicts", _outputs(facts)),
        ("takes", _inputs(facts)),
        ("arithmetic", "integers" if facts["precision"] == "int" else str(facts["precision"])),
        ("on a device", f"{facts['device_nbytes']:,} bytes"),
        ("this file", f"{facts['file_nbytes']:,} bytes, format {facts['format_version']}"),
    ]
    if facts["projection"]:
        lines.insert(2, ("projection", facts["projection"]))
    for place, rows in enumerate(facts["row_groups"]):
        name = "rows" if len(facts["row_groups"]) == 1 else f"rows, group {place}"
        lines.append((name, _rows(rows)))
    for place, stage in enumerate(facts["stages"]):
        lines.insert(3 + place, ("stage" if len(facts["stages"]) == 1 else f"stage {place}", _stage(stage)))
    if facts["linear"]:
        lines.append(("linear term", facts["linear"]))
    if facts["is_additive"]:
        lines.append(("may be", "added to, merged, refitted"))
    lines += [(f"note: {name}", str(value)) for name, value in facts["metadata"].items() if value is not None]
    return lines


def _outputs(facts: dict[str, Any]) -> str:
    if facts["task"] != "classification":
        n = facts["n_outputs"]
        values = "a value" if n == 1 else f"{n} values"
        return f"{facts['task']}: {values}" if facts["task"] else values
    if facts["classes"] is None:
        return f"classification: {max(2, facts['n_outputs'])} classes"
    return f"classification: {listed(facts['classes'])}"


def _inputs(facts: dict[str, Any]) -> str:
    words = [f"{facts['n_features']:,} columns"]
    if facts["n_columns"] != facts["n_features"]:
        words.append(f"of which {facts['n_columns']:,} are used")
    if facts["categories"]:
        words.append(f"{len(facts['categories'])} with categories")
    words.append("missing values allowed" if facts["accepts_missing"] else "no missing values")
    names = f": {listed(facts['feature_names'])}" if facts["feature_names"] else ""
    return ", ".join(words) + names


def _stage(stage: dict[str, Any]) -> str:
    size = f"{stage['n_inputs']:,} to {stage['n_components']:,}, {stage['matrix']}"
    linear = ", linear term" if stage["linear"] else ""
    activation = "no activation" if stage["activation"] == "none" else stage["activation"]
    return f"{size}, {stage['n_nonzeros']:,} entries not 0; {activation}{linear}; {stage['nbytes']:,} bytes"


def _rows(rows: dict[str, Any]) -> str:
    sizes = f"{rows['n_rows']:,} rows of {rows['n_buckets']} buckets, {rows['counters']} counters, {rows['aggregate']}"
    codes = f"{rows['n_concat']} codes a row" if rows["n_concat"] > 1 else "one code a row"
    return f"{sizes}; {codes}: {rows['hash']}; {rows['nbytes']:,} bytes"
