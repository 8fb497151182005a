"""Write the tables of README from the files in benchmarks/results; with --check only say whether they are up to date.

python tools/write_tables.py [--check]
"""

import json
import sys
from pathlib import Path
from statistics import mean, pstdev

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- generated: {} -->", "<!-- /generated -->"


def accuracy_table() -> str:
    """Test scores over seeds, sizes and costs at the paper's own sizes."""
    datasets = json.loads((ROOT / "benchmarks/results/accuracy.json").read_text())["datasets"]
    lines = [
        "| test metric | teacher | kernel model | paper's counters | calibrated | refitted | numbers | bytes | FLOPs |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, result in datasets.items():
        runs = result["runs"]
        cells = [f"{name} ({result['metric']})"]
        for stage in ("teacher", "kernel", "sketch", "calibrated", "refitted"):
            cells.append(_spread([run["scores"][stage] for run in runs]))
        for quantity in ("parameters", "flops"):
            teacher, sketch = (runs[0][side][quantity] for side in ("teacher", "sketch"))
            cells.append(f"{sketch:,.0f} ({teacher / sketch:.0f}x less)")
        cells.insert(-1, f"{runs[0]['sketch']['nbytes']:,}")
        lines.append("| " + " | ".join(cells) + " |")
    n_seeds = len(next(iter(datasets.values()))["runs"])
    lines += [
        "",
        f"Mean ± standard deviation over {n_seeds} seeds; L, R and p as in the paper's tables; bytes in float32.",
    ]
    return "\n".join(lines)


def speed_list() -> str:
    """What benchmarks/speed.py measured."""
    result = json.loads((ROOT / "benchmarks/results/speed.json").read_text())
    kernel, a9a, build = result["kernel"], result["a9a"], result["build"]
    return "\n".join(
        [
            f"- kernel evaluations while distilling, against the same formula in plain torch: as hashed "
            f"{kernel['as hashed']['ratio']:.0f}x, closed form {kernel['closed form']['ratio']:.1f}x;",
            f"- distilling a9a ({a9a['distill_error_of_variance']:.4f} of the teacher's variance left): "
            f"{a9a['distill_seconds']:.0f} s on {result['environment']['cpu']};",
            f"- the NumPy oracle, L = 500: {a9a['oracle_rows']:,} rows in {a9a['oracle_seconds']:.2f} s;",
            f"- a sketch of {build['points']:,} weighted points (p = 8, L = 100): {build['seconds']:.0f} s, "
            f"{build['peak_bytes'] / 2**30:.1f} GiB at the peak, data included.",
        ]
    )


def _spread(values: list[float]) -> str:
    return f"{mean(values):.4f} ± {pstdev(values):.4f}"


def replaced(text: str, name: str, content: str) -> str:
    """``text`` with ``content`` between the markers of ``name``."""
    begin = BEGIN.format(name)
    before, rest = text.split(begin, 1)
    _, after = rest.split(END, 1)
    return f"{before}{begin}\n{content}\n{END}{after}"


def main() -> None:
    """Write README.md, or compare."""
    path = ROOT / "README.md"
    old = path.read_text()
    new = replaced(replaced(old, "accuracy", accuracy_table()), "speed", speed_list())
    if "--check" in sys.argv[1:]:
        sys.exit("README's tables are not those of benchmarks/results; run: make tables" if new != old else 0)
    path.write_text(new)


if __name__ == "__main__":
    main()
