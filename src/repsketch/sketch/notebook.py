"""A sketch as a notebook shows it: two small tables without a style of their own, all text escaped."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from ..display import describe_columns, describe_outputs

if TYPE_CHECKING:
    from .sketch import Sketch

MOST_NAMES, LONGEST_NAME = 6, 40  # of classes and columns


def to_html(sketch: "Sketch") -> str:
    """What the sketch is, and how it did beside other models of its size if ``compress`` made it."""
    form = sketch.form
    task = describe_outputs(form.task, form.n_outputs, form.classes)
    if form.task == "classification" and form.classes is not None:
        task += f": {_names(form.classes.tolist())}"
    columns = describe_columns(form.inputs.n_columns, form.n_features)
    if form.feature_names is not None:
        used = range(form.n_features) if form.inputs.columns is None else form.inputs.columns.tolist()
        columns += f": {_names([form.feature_names[place] for place in used])}"
    facts = {
        "task": task,
        "size": f"{form.nbytes:,} bytes",
        "columns": columns,
        "rows of counters": f"{form.n_rows:,}",
        "arithmetic": form.precision,
    }
    html = _table(_row("th", (name,), value) for name, value in facts.items())
    summary: Any = getattr(sketch, "summary", None)
    if summary is None:
        return html
    models = (_row("td", (row["name"], f"{row['score']:.4f}", f"{row['nbytes']:,}")) for row in summary.rows)
    html += _table([_row("th", ("model", summary.metric, "bytes")), *models])
    return html + (f"<p>{escape(summary.verdict)}</p>" if summary.verdict else "")


def _names(names: list[Any]) -> str:
    shown = ", ".join(str(name)[:LONGEST_NAME] for name in names[:MOST_NAMES])
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def _table(rows: Iterable[str]) -> str:
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _row(tag: str, cells: Iterable[str], *values: str) -> str:
    """Cells of a tag, and after them values."""
    shown = [f"<{tag}>{escape(cell)}</{tag}>" for cell in cells] + [f"<td>{escape(value)}</td>" for value in values]
    return f"<tr>{''.join(shown)}</tr>"
