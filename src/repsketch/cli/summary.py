"""The summary of ``repsketch compress``: the sketch, its teacher, and other models of the same bytes."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..data.tables import Table
from ..sketch import Sketch
from ..teacher import Teacher
from .scores import format_score, predicted_by, scorer_of
from .terminal import printable, screen

TRAINING_ROWS, TEST_ROWS = "training rows", "test rows"  # names of the rows that are scored on
SKETCH = "sketch"  # as in the comparison


def summarize(
    sketch: Sketch,
    teacher: Teacher,
    train_table: Table,
    test_table: Table,
    model: Path | None,
) -> dict[str, Any]:
    """Scores and costs as a dictionary that JSON can hold.

    Scores are against the target if there is one, else against the teacher's predictions. ``validation_score`` is the
    score on the validation rows of the search, and the only score of other models of the same bytes.
    """
    task = sketch.task
    taught = teacher.label(test_table.X)
    truth = predicted_by(taught) if test_table.y is None else test_table.y
    cost = sketch.cost()
    teacher_nbytes = None if model is None else model.stat().st_size
    found = getattr(sketch, "summary", None)
    compared = [] if found is None else list(found.rows)
    scorer = scorer_of(sketch, truth, test_table.weights)
    return {
        "task": task,
        "classes": None if sketch.classes is None else sketch.classes.tolist(),
        "target": train_table.target,
        "metric": scorer.metric,
        "scored_against": "teacher" if test_table.y is None else "target",
        "scored_on": test_table.name,
        "n_rows": {"train": train_table.n_rows, "test": test_table.n_rows},
        "teacher": {
            "nbytes": teacher_nbytes,
            "score": None if test_table.y is None else replace(scorer, classes=taught.classes).score(taught.values),
        },
        "sketch": {
            "nbytes": sketch.nbytes,
            "score": scorer.score(sketch.outputs(test_table.X)),
            "validation_score": next((row["score"] for row in compared if row["name"] == SKETCH), None),
            "reduction": None if teacher_nbytes is None else teacher_nbytes / sketch.nbytes,
        },
        "comparison": [
            {"name": row["name"], "nbytes": row["nbytes"], "validation_score": row["score"]}
            for row in compared
            if row["name"] != SKETCH
        ],
        "conclusion": None if found is None else found.conclusion,
        "cost": {**asdict(cost), "operations": cost.operations, "energy_picojoule": cost.energy_picojoule()},
    }


def print_summary(summary: dict[str, Any]) -> None:
    """The summary as a table and a few lines."""
    from rich.table import Table as Grid

    console, rows, metric = screen(), summary["n_rows"], summary["metric"]
    line = (
        f"{summary['task']} of {summary['target'] or 'the outputs of the teacher'}: {rows['train']:,} training rows, "
        f"scored on {rows['test']:,} {summary['scored_on']}"
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
        cells = ["" if number is None else format_score(number, summary["task"]) for number in numbers]
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
        yield "Validation rows are the training rows that hyper-parameters were chosen on."
    if sizes["budget"] is None:
        wanted = f"with a tolerance of {summary['tolerance']:g}"
    else:
        wanted = f"of a budget of {sizes['budget']:,}"
    yield (
        f"bytes on a device: {sizes['device']:,} {wanted}; bytes of the file, with names and checks: {sizes['file']:,}"
    )
    if reduction is not None:
        yield f"{reduction:,.1f} times smaller than the teacher's file"
        if summary["scored_on"] == TEST_ROWS:
            yield "If the model was trained on these rows, its score is too good: give other rows with --test."
    kinds = ("additions", "adds"), ("multiplications", "multiplies"), ("look-ups", "lookups"), ("others", "others")
    counts = ", ".join(f"{name} {cost[key]:,.0f}" for name, key in kinds)
    yield f"one prediction: {cost['operations']:,.0f} operations ({counts})"
    yield f"{summary['seconds']:g} s; written: {', '.join(summary['files'])}"
