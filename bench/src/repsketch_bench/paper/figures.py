"""Figure 2 and the plots of convergence, as SVG and PNG."""

from pathlib import Path
from typing import Any

import numpy as np

from ..drawing import grid, pyplot_module, save
from .results import over_seeds
from .settings import REDUCTIONS
from .tables import METHODS, named, scores_of

COLOURS = ("#b2182b", "#ef8a62", "#2166ac", "#67a9cf", "#1b7837", "#7fbc41", "#9970ab", "#b8860b", "#878787")


def draw_frontier(results: dict[str, dict[str, Any]], folder: Path) -> None:
    """Figure 2: score against memory reduction for every method, mean and standard deviation over seeds."""
    pyplot = pyplot_module()
    figure, axes = grid(pyplot, len(results))
    for axis, (name, result) in zip(axes, results.items(), strict=False):
        for method, colour in zip(METHODS, COLOURS, strict=True):
            points = [(r, scores_of(result, method, r)) for r in REDUCTIONS]
            points = [(r, scores) for r, scores in points if scores]
            if not points:
                continue
            x = [r for r, _ in points]
            middle = np.array([np.mean(scores) for _, scores in points])
            width = np.array([np.std(scores, ddof=1) if len(scores) > 1 else 0.0 for _, scores in points])
            is_ours = method == METHODS[0]
            axis.plot(x, middle, "o-" if is_ours else ".-", color=colour, label=method, lw=2.2 if is_ours else 1.2)
            axis.fill_between(x, middle - width, middle + width, color=colour, alpha=0.15, lw=0)
        teacher = over_seeds(result, "teacher", "score")
        if teacher:
            axis.axhline(np.mean(teacher), color="black", lw=0.8, ls=":", label="network")
        axis.set_xscale("log")
        axis.set_xticks(REDUCTIONS, [f"{r}x" for r in REDUCTIONS])
        axis.minorticks_off()
        axis.tick_params(labelsize=8)
        better = "higher" if result["task"] == "classification" else "lower"
        axis.set_title(f"{named(name, result)}: {result['metric']}, {better} is better", fontsize=9)
        _limit(axis, result)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, ncols=5, loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False)
    note = "Numbers of the network over numbers of the model. A line that leaves its panel is worse than its edge."
    figure.supxlabel(note, fontsize=8)
    save(figure, folder, "frontier")


def draw_convergence(results: dict[str, dict[str, Any]], folder: Path) -> None:
    """Error of the median of means against L, with Theorem 2's bound."""
    pyplot = pyplot_module()
    drawn = {name: result for name, result in results.items() if result["found"].get("convergence")}
    if not drawn:
        return
    figure, axes = grid(pyplot, len(drawn))
    for axis, (name, result) in zip(axes, drawn.items(), strict=False):
        points = next(iter(result["found"]["convergence"].values()))["points"]
        x = [point["n_rows"] for point in points]
        for key, label, style in (
            ("bound", "Theorem 2's bound", "k--"),
            ("quantile", "95 % of queries", "s-"),
            ("mean", "mean", "o-"),
        ):
            axis.plot(x, [point[key] for point in points], style, label=label, lw=1.2, ms=4)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(f"{named(name, result)}: error over the deviation of the kernel's outputs", fontsize=9)
        axis.set_xlabel("rows, L", fontsize=8)
    axes[0].legend(fontsize=7)
    save(figure, folder, "convergence")


def _limit(axis: Any, result: dict[str, Any]) -> None:
    """Leave out what is far off: one collapsed network would squeeze all other lines into one."""
    teacher = over_seeds(result, "teacher", "score")
    if not teacher:
        return
    middle = float(np.mean(teacher))
    drawn = np.concatenate([line.get_ydata() for line in axis.lines])
    if result["task"] == "classification":
        depth = max(0.02, 0.3 * (1.0 - middle))
        axis.set_ylim(max(drawn.min() - 0.1 * depth, middle - depth), drawn.max() + 0.1 * depth)
    else:
        axis.set_ylim(drawn.min() - 0.01 * middle, min(drawn.max() + 0.01 * middle, 1.15 * middle))
