"""Figures of results: panels, written as SVG and PNG."""

from pathlib import Path
from typing import Any

from repsketch.errors import require


def pyplot_module() -> Any:
    """Matplotlib's pyplot without a window; the same picture is the same file."""
    matplotlib = require("matplotlib", "bench")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "repsketch"
    import matplotlib.pyplot as pyplot

    return pyplot


def grid(pyplot: Any, n: int) -> tuple[Any, list[Any]]:
    """A figure of n panels, at most three side by side."""
    n_columns = min(n, 3)
    n_lines = -(-n // n_columns)
    figure, axes = pyplot.subplots(n_lines, n_columns, figsize=(4.2 * n_columns, 3.2 * n_lines), squeeze=False)
    flat = list(axes.flat)
    for axis in flat[n:]:
        axis.set_visible(False)
    return figure, flat[:n]


def save(figure: Any, folder: Path, name: str) -> None:
    """Write a figure as SVG and PNG."""
    figure.tight_layout()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    figure.savefig(folder / f"{name}.png", dpi=130, bbox_inches="tight")
