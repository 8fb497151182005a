"""Compress ten small datasets and write the digest and the test score of each sketch, to compare two versions.

    python tools/check_bytes.py before.json                          # with the old version installed
    python tools/check_bytes.py after.json --against before.json     # with the new one

Prints a table; exit code 1 if the bytes of a sketch differ. A quarter of the rows are test rows.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets, ensemble, linear_model, metrics, model_selection, neural_network, pipeline, preprocessing

import repsketch

MAX_ROWS = 3_000


def _bundled(load: Callable) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    return lambda: load(return_X_y=True)


def _archive(name: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    def load() -> tuple[np.ndarray, np.ndarray]:
        with np.load(Path(os.environ["REPSKETCH_DATA"]) / name) as archive:
            X, y = archive["X"], archive["y"]
        rows = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
        return np.asarray(X[rows], np.float64), y[rows]

    return load


def _scaled(model: Any) -> Any:
    return pipeline.make_pipeline(preprocessing.StandardScaler(), model)


def _score_function(X: np.ndarray) -> np.ndarray:
    """The Friedman function of ten columns."""
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


# name: (rows, the teacher's class or the teacher itself). Probabilities, decision values, regressors and a function.
CASES: dict[str, tuple[Callable, Callable[[], Any]]] = {
    "iris": (_bundled(datasets.load_iris), lambda: ensemble.RandomForestClassifier(random_state=0)),
    "wine": (_bundled(datasets.load_wine), lambda: _scaled(linear_model.LogisticRegression())),
    "breast-cancer": (_bundled(datasets.load_breast_cancer), lambda: ensemble.RandomForestClassifier(random_state=0)),
    "digits": (
        _bundled(datasets.load_digits),
        lambda: _scaled(neural_network.MLPClassifier((64,), max_iter=60, random_state=0)),
    ),
    "moons": (lambda: datasets.make_moons(1_200, noise=0.3, random_state=0), lambda: linear_model.RidgeClassifier()),
    "phishing": (_archive("phishing.npz"), lambda: ensemble.HistGradientBoostingClassifier(random_state=0)),
    "skin": (_archive("skin_nonskin.npz"), lambda: ensemble.HistGradientBoostingClassifier(random_state=0)),
    "diabetes": (_bundled(datasets.load_diabetes), lambda: ensemble.RandomForestRegressor(random_state=0)),
    "abalone": (_archive("abalone.npz"), lambda: ensemble.HistGradientBoostingRegressor(random_state=0)),
    "friedman": (lambda: datasets.make_friedman1(1_500, noise=1.0, random_state=0), lambda: _score_function),
}


def measure(name: str, seed: int, budget: str) -> dict[str, Any]:
    """Digest, bytes and test score of one sketch: accuracy and log loss, or MAE and R²."""
    load, make = CASES[name]
    X, X_test, y, y_test = model_selection.train_test_split(*load(), test_size=0.25, random_state=seed)
    teacher = make()
    if hasattr(teacher, "fit"):
        teacher.fit(X, y)
    task = "regression" if name in ("diabetes", "abalone", "friedman") else "classification"
    sketch = repsketch.compress(teacher, X, y, budget=budget, task=task, random_state=seed, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.rsk"
        sketch.save(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    predicted = sketch.predict(X_test)
    if task == "regression":
        scores = {
            "MAE": metrics.mean_absolute_error(y_test, predicted),
            "R2": metrics.r2_score(y_test, predicted),
        }
    else:
        scores = {
            "accuracy": metrics.accuracy_score(y_test, predicted),
            "log loss": metrics.log_loss(y_test, sketch.predict_proba(X_test), labels=sketch.classes),
        }
    return {"sha256": digest, "nbytes": sketch.nbytes, "scores": scores}


def main() -> int:
    """Measure, write, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--budget", default="1KB")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--datasets", nargs="*", default=list(CASES))
    arguments = parser.parse_args()
    found: dict[str, Any] = json.loads(arguments.output.read_text()) if arguments.output.exists() else {}
    known = {} if arguments.against is None else json.loads(arguments.against.read_text())
    n_different = n_compared = 0
    for name in arguments.datasets:
        for seed in range(arguments.seeds):
            key = f"{name} {arguments.budget} seed {seed}"
            if key not in found:  # a run that was stopped goes on
                found[key] = measure(name, seed, arguments.budget)
                arguments.output.write_text(json.dumps(found, indent=1) + "\n")
            line = ", ".join(f"{metric} {value:.4f}" for metric, value in found[key]["scores"].items())
            if key in known:
                is_same = known[key]["sha256"] == found[key]["sha256"]
                n_compared, n_different = n_compared + 1, n_different + (not is_same)
                before = ", ".join(f"{metric} {value:.4f}" for metric, value in known[key]["scores"].items())
                line = f"same bytes; {line}" if is_same else f"DIFFERENT; before: {before}; now: {line}"
            print(f"{key:<30} {found[key]['nbytes']:>5} bytes  {found[key]['sha256'][:12]}  {line}", flush=True)
    if known:
        print(f"{n_compared - n_different} of {n_compared} sketches have the same bytes")
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main())
