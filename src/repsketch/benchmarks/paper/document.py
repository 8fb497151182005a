"""docs/reproduction.md: what reproduces, what does not, and why, written from result files."""

from typing import Any

from . import tables
from .printed import MISPRINTS, PRINTED
from .results import over_seeds, spread


def tables_text(results: dict[str, dict[str, Any]]) -> str:
    """All tables, each under its heading."""
    parts = [
        ("Table 1: scores", tables.main_table(results)),
        ("Table 1: memory and operations", tables.cost_table(results)),
        ("Table 2: data and settings", tables.settings_table(results)),
        ("Who wins at equal memory", tables.winners_table(results)),
        ("What each choice is worth", tables.ablation_table(results)),
        ("Equal rows on one side", tables.grouped_table(results)),
    ]
    notes = [f"- {result['note']}" for result in results.values() if result["note"]]
    text = "\n\n".join(f"## {title}\n\n{body}" for title, body in parts)
    return text + ("\n\n" + "\n".join(notes) if notes else "") + "\n"


def misprints_list() -> str:
    """Cells of the paper's table that its own formulas do not give."""
    lines = [f"- {name}, {field.replace('_', ' ')}, printed {getattr(PRINTED[name], field):g}: {why}."
             for (name, field), why in MISPRINTS.items()]  # fmt: skip
    return "\n".join(lines)


def reached_list(results: dict[str, dict[str, Any]]) -> str:
    """For each dataset: our sketch with the paper's counters against the figure the paper prints."""
    lines = []
    for name, result in results.items():
        ours = {
            stage: over_seeds(result, "stages", stage, "score") for stage in ("sketch", "sketch+linear", "calibrated")
        }
        text = ", ".join(f"{stage.replace('+', ' + ')} {spread(scores)}" for stage, scores in ours.items())
        lines.append(f"- {name}: paper {PRINTED[name].sketch}; {text}.")
    return "\n".join(lines)
