"""The paper's tables, ours beside them, as Markdown. Every number comes from result files."""

from collections.abc import Iterable
from statistics import mean
from typing import Any

from ..datasets import PAPER_SIZES
from .printed import PRINTED
from .results import over_seeds, spread
from .settings import TABLE_REDUCTIONS

Results = dict[str, dict[str, Any]]
METHODS = (
    "sketch, refitted",
    "pruned once",
    "pruned gradually",
    "distilled",
    "Fourier features, seeded",
    "Nyström",
    "LightGBM",
)
KIND_OF = {
    "sketch, refitted": "sketch",
    "pruned once": "pruning",
    "pruned gradually": "pruning",
    "distilled": "distilled",
}


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    header = list(header)
    lines = [header, ["---"] * len(header), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main_table(results: Results) -> str:
    """Table 1: scores of all stages, ours and the paper's."""
    header = ["", "NN (paper)", "NN", "Kernel (paper)", "Kernel", "RS (paper)", "RS", "RS calibrated"]
    header += ["RS + linear term", "RS refitted", "refitted + linear", "refitted, int8"]
    rows = []
    for name, result in results.items():
        printed = PRINTED[name]
        stages = ("sketch", "calibrated", "sketch+linear", "refitted", "refitted+linear", "int8+linear")
        rows.append(
            [
                f"{name} ({result['metric']})",
                *(f"{printed.network}", spread(over_seeds(result, "teacher", "score"))),
                *(f"{printed.kernel}", spread(over_seeds(result, "stages", "kernel", "score")), f"{printed.sketch}"),
                *(spread(over_seeds(result, "stages", stage, "score")) for stage in stages),
            ]
        )
    return table(header, rows)


def cost_table(results: Results) -> str:
    """Table 1, right half: memory and operations the paper's way, and bytes as deployed."""
    header = ["", "NN numbers", "RS numbers", "fewer (paper)", "NN FLOPs", "RS FLOPs", "fewer (paper)"]
    header += ["NN float32 bytes", "NN int8 bytes", ".rsk float32", ".rsk int8"]
    rows = []
    for name, result in results.items():
        network, flops = (over_seeds(result, "teacher", key)[0] for key in ("n_numbers", "flops"))
        numbers, ours = (over_seeds(result, "stages", "sketch", key)[0] for key in ("n_numbers", "flops"))
        files = [mean(over_seeds(result, "stages", stage, "file_nbytes")) for stage in ("refitted", "int8")]
        printed = PRINTED[name]
        rows.append(
            [
                name,
                *(f"{network:,.0f}", f"{numbers:,.0f}", f"{network / numbers:.0f}x ({printed.memory_reduction:g}x)"),
                *(f"{flops:,.0f}", f"{ours:,.0f}", f"{flops / ours:.1f}x ({printed.flops_reduction:g}x)"),
                *(f"{4 * network:,.0f}", f"{network:,.0f}", *(f"{size:,.0f}" for size in files)),
            ]
        )
    return table(header, rows)


def settings_table(results: Results) -> str:
    """Table 2: data and settings."""
    rows = []
    for name, result in results.items():
        sizes = PAPER_SIZES[name]
        shape = "/".join(map(str, sizes.hidden))
        rows.append(
            [
                name,
                result["task"],
                f"{sizes.n_features}",
                shape,
                f"{sizes.n_rows}",
                f"{sizes.n_concat}",
                f"{2**sizes.n_concat}",
                f"{sizes.n_components}",
                f"{len(result['found'].get('teacher', {}))}",
                f"{result['seconds'] / 60:.0f}",
            ]
        )
    return table(["", "task", "d", "network", "L", "K", "R", "p", "seeds", "core minutes"], rows)


def winners_table(results: Results, reductions: Iterable[int] = TABLE_REDUCTIONS) -> str:
    """Which method is best at each reduction, and what the sketch loses or wins against the best of the others."""
    rows = []
    for name, result in results.items():
        sign = 1.0 if result["task"] == "classification" else -1.0
        for reduction in reductions:
            scores = {
                method: score for method in METHODS if (score := mean_score(result, method, reduction)) is not None
            }
            if "sketch, refitted" not in scores or len(scores) < 2:
                continue
            ours = scores.pop("sketch, refitted")
            best = max(scores, key=lambda method: sign * scores[method])
            gap = sign * (ours - scores[best])
            verdict = "sketch" if gap > 0 else best
            cells = [f"{score:.4f}" for score in (ours, scores[best])]
            rows.append([name, f"{reduction}x", f"**{verdict}**", cells[0], f"{cells[1]} ({best})", f"{gap:+.4f}"])
    return table(["", "reduction", "winner", "sketch", "best other", "the sketch's lead"], rows)


def ablation_table(results: Results) -> str:
    """Test scores of the paper's counters, calibrated and refitted, by choice."""
    names = dict.fromkeys(
        name for result in results.values() for found in result["found"].get("ablation", {}).values() for name in found
    )
    rows = []
    for name in names:
        cells = []
        for result in results.values():
            scores = (over_seeds(result, "ablation", name, stage) for stage in ("score", "calibrated", "refitted"))
            cells.append(" / ".join(f"{mean(score):.3f}" if score else "–" for score in scores))
        rows.append([name, *cells])
    return table(["plain / calibrated / refitted", *results], rows)


def grouped_table(results: Results) -> str:
    """Scores with equal rows on both sides of the split, and with all of them on one side."""
    rows = []
    for name, result in results.items():
        if "grouped" in result["found"]:
            for stage in ("teacher", "kernel", "sketch", "refitted"):
                path = ("teacher", "score") if stage == "teacher" else ("stages", stage, "score")
                cells = [spread(over_seeds(result, *path)), spread(over_seeds(result, "grouped", stage, "score"))]
                rows.append([name, stage, *cells])
    return table(["", "stage", "random split", "equal rows on one side"], rows)


def mean_score(result: dict[str, Any], method: str, reduction: int) -> float | None:
    """Mean test score of a method at a reduction, or None where it cannot be so small."""
    scores = over_seeds(result, KIND_OF.get(method, "others"), method, reduction, "score")
    return mean(scores) if scores else None


def tables_text(results: Results) -> str:
    """All tables, each under its heading."""
    parts = [
        ("Table 1: scores", main_table(results)),
        ("Table 1: memory and operations", cost_table(results)),
        ("Table 2: data and settings", settings_table(results)),
        ("Who wins at equal memory", winners_table(results)),
        ("What each choice is worth", ablation_table(results)),
        ("Equal rows on one side", grouped_table(results)),
    ]
    notes = [f"- {result['note']}" for result in results.values() if result["note"]]
    text = "\n\n".join(f"## {title}\n\n{body}" for title, body in parts)
    return text + ("\n\n" + "\n".join(notes) if notes else "") + "\n"
