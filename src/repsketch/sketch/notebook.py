"""A sketch as a notebook shows it: two small tables without a style of their own, all text escaped."""

from html import escape
from typing import TYPE_CHECKING, Any

from ..display import describe_columns, describe_outputs, html_cell, html_table

if TYPE_CHECKING:
    from .sketch import Sketch

MOST_NAMES, LONGEST_NAME = 6, 40  # of classes and columns


def to_html(sketch: "Sketch") -> str:
    """What the sketch is, and how it did beside other models of its size if ``compress`` made it."""
    model = sketch.model
    task = describe_outputs(model.task, model.n_outputs, model.classes)
    if model.task == "classification" and model.classes is not None:
        task += f": {_names(model.classes.tolist())}"
    columns = describe_columns(model.inputs.n_columns, model.n_features)
    if model.feature_names is not None:
        used = range(model.n_features) if model.inputs.columns is None else model.inputs.columns.tolist()
        columns += f": {_names([model.feature_names[place] for place in used])}"
    facts = {
        "task": task,
        "size": f"{model.nbytes:,} bytes",
        "columns": columns,
        "rows of counters": f"{model.n_rows:,}",
        "arithmetic": model.precision,
    }
    html = html_table(html_cell(name, "th") + html_cell(value) for name, value in facts.items())
    summary: Any = getattr(sketch, "summary", None)
    if summary is None:
        return html
    titles = html_cell("model", "th") + html_cell(summary.metric, "th", "right") + html_cell("bytes", "th", "right")
    numbers = [(f"{row['score']:.4f}", f"{row['nbytes']:,}") for row in summary.rows]
    models = (
        html_cell(row["name"]) + "".join(html_cell(number, side="right") for number in cells)
        for row, cells in zip(summary.rows, numbers, strict=True)
    )
    return html + html_table([titles, *models]) + (f"<p>{escape(summary.conclusion)}</p>" if summary.conclusion else "")


def _names(names: list[Any]) -> str:
    shown = ", ".join(str(name)[:LONGEST_NAME] for name in names[:MOST_NAMES])
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
