"""What ``repsketch compress`` says at its end: the sketch beside its teacher and other models of its size."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..io.data import Table
from ..sketch import Sketch
from ..teacher import Teacher
from .scores import METRICS, answers, said, score

LEARNT, HELD_OUT = "rows learnt from", "rows held out"  # what rows to score on are called


def summarize(
    sketch: Sketch, teacher: Teacher, learnt: Table, scored: Table, model: Path | None, seconds: float
) -> dict[str, Any]:
    """Sizes, scores and costs as a dictionary that JSON can hold.

    Scores are against the target where there is one, else against the teacher's answers.
    """
    task = sketch.task
    answered = answers(teacher.label(scored.X))
    truth = answered if scored.y is None else scored.y
    cost = sketch.cost()
    teacher_nbytes = None if model is None else model.stat().st_size
    company = getattr(sketch, "summary", None)
    return {
        "task": task,
        "classes": None if sketch.classes is None else sketch.classes.tolist(),
        "target": learnt.target,
        "metric": METRICS[task],
        "scored_against": "teacher" if scored.y is None else "target",
        "scored_on": scored.name,
        "n_rows": {"learnt": learnt.n_rows, "scored": scored.n_rows},
        "teacher": {
            "name": "gradient-boosted trees, trained here" if model is None else model.name,
            "nbytes": teacher_nbytes,
            "score": None if scored.y is None else score(answered, scored.y, task),
        },
        "sketch": {
            "nbytes": sketch.nbytes,
            "score": score(sketch.predict(scored.X), truth, task),
            "reduction": None if teacher_nbytes is None else teacher_nbytes / sketch.nbytes,
        },
        "cost": {**asdict(cost), "operations": cost.operations, "energy_picojoule": cost.energy_picojoule()},
        "company": [] if company is None else list(company.rows),
        "verdict": None if company is None else company.verdict,
        "seconds": round(seconds, 1),
    }


def print_summary(summary: dict[str, Any]) -> None:
    """The summary as a table and a few lines."""
    from rich.console import Console
    from rich.table import Table as Grid

    task, teacher, sketch = (summary[key] for key in ("task", "teacher", "sketch"))
    rows = summary["n_rows"]
    console = Console(highlight=False, markup=False)
    console.print(
        f"{task} of {summary['target'] or 'what the teacher answers'}: {rows['learnt']:,} rows learnt from, "
        f"scored on {rows['scored']:,} {summary['scored_on']}",
        soft_wrap=True,
    )
    against = " (agreement with the teacher)" if summary["scored_against"] == "teacher" else ""
    grid = Grid("", f"{summary['metric']}{against}", "bytes")
    for column in grid.columns[1:]:
        column.justify = "right"
    grid.add_row(f"teacher: {teacher['name']}", *_cells(teacher, task))
    grid.add_row("sketch", *_cells(sketch, task), end_section=bool(summary["company"]))
    for other in summary["company"]:
        grid.add_row(other["name"], *_cells(other, task))
    console.print(grid)
    for line in _lines(summary):
        console.print(line, soft_wrap=True)


def _cells(model: dict[str, Any], task: str) -> tuple[str, str]:
    score_cell = "" if model["score"] is None else said(model["score"], task)
    return score_cell, "" if model["nbytes"] is None else f"{model['nbytes']:,}"


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    cost, reduction = summary["cost"], summary["sketch"]["reduction"]
    if summary["company"]:
        yield f"Below the line: models of the same bytes, their {summary['metric']} on rows that chose the sketch."
    if summary["verdict"]:
        yield summary["verdict"]
    if reduction is not None:
        yield f"{reduction:,.1f} times smaller than the teacher's file"
        if summary["scored_on"] == HELD_OUT:
            yield "A model that was trained on these rows looks better than it is: --test scores on others."
    parts = ("additions", "adds"), ("multiplications", "multiplies"), ("look-ups", "lookups"), ("others", "others")
    counts = ", ".join(f"{name} {cost[key]:,.0f}" for name, key in parts)
    yield f"one prediction: {cost['operations']:,.0f} operations ({counts})"
    yield f"{summary['seconds']:g} s; written: {', '.join(summary['files'])}"
