"""Score against bytes, one panel a dataset."""

from pathlib import Path
from typing import Any

import numpy as np

from ..drawing import grid, pyplot_module, save
from ..paper.tables import named
from .margins import Results, budgets_of, peers_of, scores_of
from .settings import OURS
from .tables import size

COLOURS = ("#2166ac", "#67a9cf", "#1b7837", "#7fbc41", "#9970ab", "#b8860b", "#e08214", "#878787", "#35978f")
OUR_COLOUR = "#b2182b"
_FAR = 0.25  # of the range of all means that one bad method may take up


def draw_curves(results: Results, folder: Path, name: str = "frontier") -> None:
    """Mean test score of every method at every budget, with its standard deviation over seeds."""
    budgets, peers = budgets_of(results), peers_of(results)
    figure, axes = grid(pyplot_module(), len(results))
    colours = dict(zip(peers, COLOURS, strict=False)) | {OURS: OUR_COLOUR}
    for axis, (dataset, result) in zip(axes, results.items(), strict=False):
        for method in (*peers, OURS):
            points = [(budget, list(scores_of(result, method, budget).values())) for budget in budgets]
            points = [(budget, scores) for budget, scores in points if scores]
            if not points:
                continue
            x = [budget for budget, _ in points]
            middle = np.array([np.mean(scores) for _, scores in points])
            width = np.array([np.std(scores, ddof=1) if len(scores) > 1 else 0.0 for _, scores in points])
            style, line = ("o-", 2.2) if method == OURS else (".-", 1.0)
            axis.plot(x, middle, style, color=colours[method], label=method, lw=line)
            axis.fill_between(x, middle - width, middle + width, color=colours[method], alpha=0.12, lw=0)
        axis.set_xscale("log", base=2)
        axis.set_xticks(budgets, [size(budget) for budget in budgets], rotation=30)
        axis.minorticks_off()
        axis.tick_params(labelsize=7)
        better = "higher" if result["metric"] == "accuracy" else "lower"
        axis.set_title(f"{named(dataset, result)}: {result['metric']}, {better} is better", fontsize=9)
        _limit(axis, result["metric"] == "accuracy")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, ncols=5, loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False)
    figure.supxlabel("Bytes allowed. A line that leaves its panel is worse than its edge.", fontsize=8)
    save(figure, folder, name)


def _limit(axis: Any, is_more: bool) -> None:
    """Leave out what is far off: one bad method would squeeze all other lines into one."""
    drawn = np.sort(np.concatenate([line.get_ydata() for line in axis.lines])) if axis.lines else np.array([0.0, 1.0])
    drawn = drawn if is_more else -drawn[::-1]
    low, high = np.quantile(drawn, _FAR), drawn[-1]
    low = max(drawn[0], low - 1.5 * (high - low))
    room = 0.05 * (high - low) or 0.01
    low, high = low - room, high + room
    axis.set_ylim((low, high) if is_more else (-high, -low))
