"""Accuracy against bytes, as ``frontier`` found it: rows, a table, a plot, and the smallest sketch within a tolerance.

The score of every sketch and peer is in ``summary`` of the sketch; here they are read side by side.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from .checks import check_number
from .compare.comparison import SKETCH, Comparison
from .display import html_cell, html_table
from .errors import InputError, require
from .sketch import CompiledSketch


@dataclass(frozen=True, eq=False, repr=False)
class Frontier:
    """The best sketch of every budget, with peers of the same bytes; ``repsketch.frontier`` makes it.

    Attributes
    ----------
    sketches : the sketch of each budget in bytes, rising
    teacher_score : the teacher's score on the same rows; None without a teacher
    is_unseen : False if the teacher was trained on these rows, as copies of it could not be trained
    too_small : budgets that are too small for any sketch

    >>> import numpy as np, repsketch as rs
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> def model(X):
    ...     return X[:, 0]
    >>> curve = rs.frontier(model, X, X[:, 0], budgets=["128B", "256B"], effort="fast", random_state=0, progress=False)
    >>> list(curve.sketches), sorted({row["model"] for row in curve.rows})
    ([128, 256], ['boosted trees', 'int8 network', 'linear', 'sketch'])
    >>> curve.smallest(tolerance=0.1).nbytes <= 256
    True
    """

    sketches: Mapping[int, CompiledSketch]
    teacher_score: float | None
    is_unseen: bool = True
    too_small: tuple[int, ...] = ()

    @property
    def first(self) -> Comparison:
        """``summary`` of the smallest sketch: all have the same metric and rows."""
        return self._summaries[0]

    @property
    def metric(self) -> str:
        """Name of the score, as in ``summary``."""
        return self.first.metric

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each model and budget: "model", "budget", "nbytes" and "score".

        ``pandas.DataFrame(curve.rows)`` makes a table of them.
        """
        rows = []
        for (budget, sketch), summary in zip(self.sketches.items(), self._summaries, strict=True):
            for row in summary.rows:
                nbytes = sketch.nbytes if row["name"] == SKETCH else row["nbytes"]
                rows.append({"model": row["name"], "budget": budget, "nbytes": nbytes, "score": row["score"]})
        return rows

    @property
    def _summaries(self) -> list[Comparison]:
        return [sketch.summary for sketch in self.sketches.values() if sketch.summary is not None]

    @property
    def _curves(self) -> dict[str, dict[int, float]]:
        """Scores by budget, for each model."""
        curves: dict[str, dict[int, float]] = {}
        for row in self.rows:
            curves.setdefault(row["model"], {})[row["budget"]] = row["score"]
        return curves

    def smallest(self, tolerance: float) -> CompiledSketch:
        """The smallest sketch that loses at most ``tolerance`` of the teacher's score, in units of the score."""
        from .compare.scores import sign_of
        from .tolerance import loses_at_most

        tolerance, reference = check_number("tolerance", tolerance, 0.0), self.teacher_score
        if reference is None:
            raise InputError("a tolerance is a loss of the teacher's score, but this frontier has no teacher.")
        scores = self._curves[SKETCH]
        for budget, sketch in self.sketches.items():
            if loses_at_most(tolerance, scores[budget], reference, self.metric):
                return sketch
        best = max(scores.values(), key=lambda score: sign_of(self.metric) * score)
        raise InputError(
            f"no sketch of this frontier loses at most {tolerance:g} of the teacher's {self.metric} of "
            f"{reference:.4f}; the best one has {best:.4f}. Raise the tolerance, or give larger budgets."
        )

    def table(self) -> list[list[str]]:
        """The titles of columns, then a line of text for each budget."""
        curves = self._curves
        lines = [["budget", "sketch bytes", *curves]]
        for budget, sketch in self.sketches.items():
            scores = (f"{curve[budget]:.4f}" if budget in curve else "-" for curve in curves.values())
            lines.append([f"{budget:,}", f"{sketch.nbytes:,}", *scores])
        return lines

    def notes(self) -> list[str]:
        """What the table does not show, in lines: the rows that are scored, the teacher, what is left out."""
        lines = [f"{self.metric} on {self.first.n_rows:,} {self.first.scored_on} rows"]
        if self.teacher_score is not None:
            seen = "" if self.is_unseen else ", on rows that it was trained on"
            lines.append(f"teacher: {self.teacher_score:.4f}{seen}")
        if self.too_small:
            lines.append(f"no sketch is as small as {max(self.too_small):,} bytes")
        reasons = [reason for summary in self._summaries for reason in (summary.left_out or {}).items()]
        return lines + [f"without {name}: {reason}" for name, reason in dict.fromkeys(reasons)]

    def __str__(self) -> str:
        lines = self.table()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ("  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([*shown, *self.notes()])

    def __repr__(self) -> str:
        best = self._curves[SKETCH][max(self.sketches)]
        return f"Frontier({len(self.sketches)} budgets up to {max(self.sketches):,} bytes, {self.metric} {best:.4f})"

    def _repr_html_(self) -> str:
        titles, *lines = self.table()
        head = "".join(html_cell(title, "th", "right") for title in titles)
        body = ("".join(html_cell(cell, side="right") for cell in line) for line in lines)
        return html_table([head, *body]) + "".join(f"<p>{escape(note)}</p>" for note in self.notes())

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores against the budgets, the sketch in front, the teacher as a horizontal line.

        Parameters
        ----------
        ax : axes of matplotlib to draw on; None for a new figure

        Returns
        -------
        matplotlib.axes.Axes
        """
        from .compare.scores import sign_of

        if ax is None:
            _, ax = require("matplotlib.pyplot", "plot").subplots()
        for name, curve in self._curves.items():
            style = {"linewidth": 2.5, "zorder": 3} if name == SKETCH else {"linewidth": 1.2, "alpha": 0.8}
            ax.plot(list(curve), list(curve.values()), marker="o", markersize=4, label=name, **style)
        if self.teacher_score is not None:
            ax.axhline(self.teacher_score, color="black", linestyle="--", linewidth=1, label="teacher")
        ax.set_xscale("log", base=2)
        ax.set_xticks(list(self.sketches), [size_name(budget) for budget in self.sketches])
        ax.minorticks_off()
        is_loss = sign_of(self.metric) < 0
        rows = f"{self.first.scored_on} rows" + (", less is better" if is_loss else "")
        ax.set(xlabel="bytes of the model, at most", ylabel=f"{self.metric} on {rows}")
        ax.legend()
        return ax


def size_name(nbytes: int) -> str:
    """Bytes as a budget is written.

    >>> size_name(256), size_name(1536), size_name(700_000)
    ('256 B', '1.5 KB', '683.6 KB')
    """
    return f"{nbytes} B" if nbytes < 1024 else f"{round(nbytes / 1024, 1):g} KB"
