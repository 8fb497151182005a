"""What ``repsketch compress`` says at its end: the sketch beside its teacher and other models of its size."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..data.tables import Table
from ..sketch import Sketch
from ..teacher import Teacher
from .scores import METRICS, answers, said, score
from .terminal import printable, screen

LEARNT, HELD_OUT = "training rows", "test rows"  # what rows to score on are called
SKETCH = "sketch"  # what the comparison calls it, too


def summarize(sketch: Sketch, teacher: Teacher, learnt: Table, scored: Table, model: Path | None) -> dict[str, Any]:
    """Scores and costs as a dictionary that JSON can hold.

    Scores are against the target where there is one, else against the teacher's answers. ``validation_score`` is of
    the rows that the search chose the sketch by, and the only one there is of other models of the same bytes.
    """
    task = sketch.task
    teacher_predictions = answers(teacher.label(scored.X))
    truth = teacher_predictions if scored.y is None else scored.y
    cost = sketch.cost()
    teacher_nbytes = None if model is None else model.stat().st_size
    found = getattr(sketch, "summary", None)
    compared = [] if found is None else list(found.rows)
    return {
        "task": task,
        "classes": None if sketch.classes is None else sketch.classes.tolist(),
        "target": learnt.target,
        "metric": METRICS[task],
        "scored_against": "teacher" if scored.y is None else "target",
        "scored_on": scored.name,
        "n_rows": {"learnt": learnt.n_rows, "scored": scored.n_rows},
        "teacher": {
            "nbytes": teacher_nbytes,
            "score": None if scored.y is None else score(teacher_predictions, scored.y, task),
        },
        "sketch": {
            "nbytes": sketch.nbytes,
            "score": score(sketch.predict(scored.X), truth, task),
            "validation_score": next((row["score"] for row in compared if row["name"] == SKETCH), None),
            "reduction": None if teacher_nbytes is None else teacher_nbytes / sketch.nbytes,
        },
        "comparison": [
            {"name": row["name"], "nbytes": row["nbytes"], "validation_score": row["score"]}
            for row in compared
            if row["name"] != SKETCH
        ],
        "verdict": None if found is None else found.verdict,
        "cost": {**asdict(cost), "operations": cost.operations, "energy_picojoule": cost.energy_picojoule()},
    }


def print_summary(summary: dict[str, Any]) -> None:
    """The summary as a table and a few lines."""
    from rich.table import Table as Grid

    console, rows, metric = screen(), summary["n_rows"], summary["metric"]
    line = (
        f"{summary['task']} of {summary['target'] or 'what the teacher answers'}: {rows['learnt']:,} training rows, "
        f"scored on {rows['scored']:,} {summary['scored_on']}"
    )
    console.print(printable(line), soft_wrap=True)
    models = [("teacher: " + summary["teacher"]["name"], summary["teacher"]), (SKETCH, summary["sketch"])]
    models += [(other["name"], other) for other in summary["comparison"]]
    scores = {"score": f"{metric}, {summary['scored_on']}", "validation_score": f"{metric}, validation rows"}
    if not summary["comparison"]:
        del scores["validation_score"]
    grid = Grid("", *map(printable, scores.values()), "bytes")
    for column in grid.columns[1:]:
        column.justify = "right"
    for name, model in models:
        numbers = (model.get(key) for key in scores)
        cells = ["" if number is None else said(number, summary["task"]) for number in numbers]
        grid.add_row(printable(name), *cells, "" if model["nbytes"] is None else f"{model['nbytes']:,}")
    console.print(grid)
    for line in _lines(summary):
        console.print(printable(line), soft_wrap=True)


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    cost, reduction, sizes = summary["cost"], summary["sketch"]["reduction"], summary["sizes"]
    if summary["n_left_out"]:
        yield f"{summary['n_left_out']:,} training rows were left out because of the time limit."
    if summary["scored_against"] == "teacher":
        yield "Without a target, scores are the agreement with the teacher."
    if summary["comparison"]:
        yield "Validation rows are the part of the training rows that the sketch was selected by."
    yield (
        f"bytes on a device: {sizes['device']:,} of a budget of {sizes['budget']:,}; "
        f"bytes of the file, with names and checks: {sizes['file']:,}"
    )
    if reduction is not None:
        yield f"{reduction:,.1f} times smaller than the teacher's file"
        if summary["scored_on"] == HELD_OUT:
            yield "A model that was trained on these rows looks better than it is: --test scores on others."
    parts = ("additions", "adds"), ("multiplications", "multiplies"), ("look-ups", "lookups"), ("others", "others")
    counts = ", ".join(f"{name} {cost[key]:,.0f}" for name, key in parts)
    yield f"one prediction: {cost['operations']:,.0f} operations ({counts})"
    yield f"{summary['seconds']:g} s; written: {', '.join(summary['files'])}"
