"""The paper's sizes on a9a and abalone: teacher, kernel, sketch, refitted sketch; mean and spread over seeds.

    python benchmarks/accuracy.py [--seeds 5] [--dataset a9a|abalone]

Prints a table and writes results/accuracy.json. Needs REPSKETCH_DATA.
"""

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import repsketch as rs
from data import Split, load_split
from record import write_result
from repsketch.baselines import train_mlp
from repsketch.baselines.mlp import widths_of
from repsketch.teacher import as_teacher
from repsketch.theory import Cost

#: The paper's teacher and sketch sizes (PAPER.md, erratum 4), and how the teacher is trained.
SETTINGS = {
    "a9a": {
        "hidden": (512, 256, 128),
        "teacher": {"n_epochs": 8, "dropout": 0.5},
        "sketch": {"n_components": 8, "n_rows": 500, "n_buckets": 2},
    },
    "abalone": {
        "hidden": (256, 128),
        "teacher": {"n_epochs": 60, "dropout": 0.0, "batch_size": 64},
        "sketch": {"n_components": 18, "n_rows": 300, "n_buckets": 2},
        # The same 744 numbers, spent on fewer coordinates and more buckets.
        "respent": {"n_components": 4, "n_rows": 178, "n_buckets": 4},
    },
}
STAGES = {
    "teacher": "teacher",
    "kernel": "kernel model",
    "sketch": "sketch, the paper's counters",
    "calibrated": "sketch, two-number calibration",
    "refitted": "sketch, refitted",
    "respent": "refitted, same numbers otherwise spent",
}


def score(data: Split, outputs: np.ndarray) -> float:
    """Accuracy on the test set, or mean absolute error for regression."""
    if data.task == "classification":
        return float(((outputs[:, 0] > 0) == data.y_test).mean())
    return float(np.abs(outputs[:, 0] - data.y_test).mean())


def measure(name: str, seed: int, *, progress: bool = True) -> dict:
    """Scores and sizes of every stage for one seed."""
    settings, data = SETTINGS[name], load_split(name, seed)
    started = time.perf_counter()
    options = {"task": data.task, "random_state": seed, "progress": progress, **settings["teacher"]}
    network = train_mlp(data.X_train, data.y_train, settings["hidden"], **options)
    teacher = as_teacher(network, data.task)
    labels = teacher.label(data.X_train)

    def distill_for(sizes: dict) -> rs.KernelModel:
        """A kernel trained with the very directions that the sketch of these sizes will use."""
        options = {"n_components": sizes["n_components"], "n_directions": sizes["n_rows"]}
        return rs.distill(labels, data.X_train, random_state=seed, progress=progress, **options)

    trained = time.perf_counter()
    sizes = settings["sketch"]
    kernel = distill_for(sizes)
    distilled = time.perf_counter()
    sketch = rs.build_sketch(kernel, sizes["n_rows"], sizes["n_buckets"], random_state=seed)
    refitted = sketch.refit(data.X_train, labels.values)
    models = {
        "kernel": kernel,
        "sketch": sketch,
        "calibrated": sketch.calibrate(data.X_train, labels.values),
        "refitted": refitted,
    }
    if "respent" in settings:
        sizes = settings["respent"]
        blank = rs.build_sketch(distill_for(sizes), sizes["n_rows"], sizes["n_buckets"], random_state=seed)
        models["respent"] = blank.refit(data.X_train, labels.values)
    scores = {"teacher": score(data, teacher.label(data.X_test).values)}
    scores |= {stage: score(data, model.outputs(data.X_test)) for stage, model in models.items()}
    network_cost, cost = Cost.of_mlp(widths_of(network)), refitted.cost()
    return {
        "seed": seed,
        "scores": scores,
        "seconds": {"teacher": trained - started, "distill": distilled - trained},
        "teacher": {"parameters": network_cost.parameters, "flops": network_cost.paper_flops},
        "sketch": {"parameters": cost.parameters, "flops": cost.paper_flops, "nbytes": refitted.nbytes},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--dataset", choices=sorted(SETTINGS), action="append")
    chosen = parser.parse_args()
    screen = Console()
    screen = screen if screen.is_terminal else Console(width=110)  # a log has room for all columns
    results = {}
    for name in chosen.dataset or SETTINGS:
        runs = [measure(name, seed) for seed in range(chosen.seeds)]
        results[name] = {"metric": "accuracy" if name == "a9a" else "MAE", "settings": SETTINGS[name], "runs": runs}
        table = Table(title=f"{name}: test {results[name]['metric']}, seeds 0 to {chosen.seeds - 1}")
        table.add_column("stage", no_wrap=True)
        for column in ("mean", "sd", *(f"seed {run['seed']}" for run in runs)):
            table.add_column(column, justify="right")
        for stage, title in STAGES.items():
            values = [run["scores"][stage] for run in runs if stage in run["scores"]]
            if values:
                cells = (f"{np.mean(values):.4f}", f"{np.std(values):.4f}", *(f"{value:.4f}" for value in values))
                table.add_row(title, *cells)
        screen.print(table)
    if set(results) == set(SETTINGS):
        print("written:", write_result("accuracy", {"datasets": results}).name)


if __name__ == "__main__":
    main()
