"""What a run leaves beside its results: tables, and curves where there are any."""

from pathlib import Path

from .figures import draw_curves
from .margins import Results
from .tables import ablation_table, chosen_on, tables_text


def write_report(results: Results, folder: Path, *, is_ablation: bool = False) -> str:
    """Writes tables.md and draws the curves; the tables. An ablation has one table, and no curves."""
    if is_ablation:
        text = f"## What each trainer is worth\n\n{ablation_table(results)}\n"
    else:
        text = tables_text(results)
        for is_set_aside, name in ((False, "frontier"), (True, "set_aside")):
            if some := chosen_on(results, is_set_aside=is_set_aside):
                draw_curves(some, folder, name)
    (folder / "tables.md").write_text(text)
    return text
