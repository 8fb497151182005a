"""Speed and memory of training and of the oracle, as ratios measured side by side in one run.

    python bench/experiments/speed.py

Writes results/speed.json. Needs REPSKETCH_DATA (a9a).
"""

import subprocess
import sys
import time
from collections.abc import Callable
from math import pi, sqrt
from statistics import median

import numpy as np
import torch
from threadpoolctl import threadpool_limits

import repsketch as rs
from data import load_split
from record import write_result
from repsketch.paper.pairs import AsHashed, L2ClosedForm, PairKernel, Pairs
from repsketch.parallel import Workers, n_threads
from repsketch.teacher import as_teacher
from repsketch_bench.baselines import train_mlp

N_QUERIES, N_POINTS, N_COMPONENTS, N_DIRECTIONS = 512, 256, 8, 256


def plain_as_hashed(directions: torch.Tensor) -> Callable:
    """The same formula as ``AsHashed``, written as one would in torch."""

    def kernel(z: torch.Tensor, points: torch.Tensor, bandwidth: torch.Tensor) -> torch.Tensor:
        u, v = z @ directions.T / bandwidth, points @ directions.T / bandwidth
        return torch.relu(1.0 - (u[:, None, :] - v[None, :, :]).abs()).mean(dim=2)

    return kernel


def plain_closed_form(z: torch.Tensor, points: torch.Tensor, bandwidth: torch.Tensor) -> torch.Tensor:
    """The paper's L2 kernel, written as one would in torch."""
    u = bandwidth / torch.cdist(z, points).clamp_min(1e-6)
    return torch.erf(u / sqrt(2.0)) - 2.0 / (sqrt(2.0 * pi) * u) * (1.0 - torch.exp(-0.5 * u**2))


def kernel_rates() -> dict:
    """Kernel evaluations a second, forward and backward, ours and the plain torch loop, interleaved."""
    rng = np.random.default_rng(0)
    z, points = (rng.normal(size=(n, N_COMPONENTS)).astype(np.float32) for n in (N_QUERIES, N_POINTS))
    bandwidth = np.float32(3.0)
    upstream = rng.normal(size=(N_QUERIES, N_POINTS)).astype(np.float32)
    family = rs.lsh.L2(bandwidth=1.0)
    directions = family.sample(N_COMPONENTS, N_DIRECTIONS).parameters["directions"]
    flat = torch.tensor(directions[:, 0] * family.unit_scale, dtype=torch.float32)
    contenders: dict[str, tuple[PairKernel, Callable]] = {
        "as hashed": (AsHashed(directions, family.unit_scale), plain_as_hashed(flat)),
        "closed form": (L2ClosedForm(), plain_closed_form),
    }

    def seconds(kernel: Pairs) -> float:
        started = time.perf_counter()
        _, gradient = kernel(z / bandwidth, points / bandwidth)
        gradient(upstream)
        return time.perf_counter() - started

    def plain_seconds(kernel: Callable) -> float:
        leaves = [torch.tensor(array).requires_grad_() for array in (z, points, bandwidth)]
        started = time.perf_counter()
        kernel(*leaves).backward(torch.from_numpy(upstream))
        return time.perf_counter() - started

    rates = {}
    with threadpool_limits(1, "blas"), Workers(n_threads(most=8)) as workers:  # as in distill; torch has all threads
        for name, (ours, plain) in contenders.items():
            pairs = [(seconds(Pairs(ours, workers)), plain_seconds(plain)) for _ in range(41)][1:]
            evaluations = N_QUERIES * N_POINTS
            ratios = sorted(slow / fast for fast, slow in pairs)
            rates[name] = {
                "ours_per_second": evaluations / median(fast for fast, _ in pairs),
                "plain_per_second": evaluations / median(slow for _, slow in pairs),
                "ratio": median(ratios),
                "ratio_quartiles": [ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4]],
            }
    return rates


def distill_and_score() -> dict:
    """Seconds to distil a9a to convergence and for the oracle to score its test set."""
    data = load_split("a9a", 0)
    network = train_mlp(data.X_train, data.y_train, task="classification", n_epochs=8, random_state=0)
    labels = as_teacher(network, "classification").label(data.X_train)
    started = time.perf_counter()
    kernel = rs.distill(labels, data.X_train, n_points=N_POINTS, n_components=N_COMPONENTS, n_directions=N_DIRECTIONS)
    distilled = time.perf_counter() - started
    sketch = rs.build_sketch(kernel, n_rows=500, n_buckets=2)
    sketch.outputs(data.X_test[:10])  # draws the hash functions
    started = time.perf_counter()
    outputs = sketch.outputs(data.X_test)
    scored = time.perf_counter() - started
    error = float(np.mean((kernel.outputs(data.X_train) - labels.values) ** 2) / labels.values.var())
    return {
        "distill_seconds": distilled,
        "distill_error_of_variance": error,
        "oracle_seconds": scored,
        "oracle_rows": len(outputs),
    }


_BUILD = """
import time
import numpy as np
import repsketch as rs

def peak():  # of this process alone: getrusage would inherit the parent's
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

n = 10_000_000
rng = np.random.default_rng(0)
points = rng.standard_normal((n, 8), dtype=np.float32)
weights = rng.standard_normal(n, dtype=np.float32)
before = peak()
started = time.perf_counter()
sketch = rs.Sketch.empty(rs.lsh.L2(bandwidth=2.0), n_rows=100, n_buckets=16, n_features=8).add(points, weights)
print(time.perf_counter() - started, before, peak())
"""


def build_ten_million() -> dict:
    """Seconds and peak memory of adding 10 million weighted points (p = 8, L = 100), in a process of its own."""
    printed = subprocess.run([sys.executable, "-c", _BUILD], stdout=subprocess.PIPE, text=True, check=True).stdout
    seconds, before, peak = map(float, printed.split())
    return {"points": 10_000_000, "seconds": seconds, "bytes_of_data": before, "peak_bytes": peak}


def main() -> None:
    rates = kernel_rates()
    for name, rate in rates.items():
        low, high = rate["ratio_quartiles"]
        print(
            f"kernel {name}: {rate['ours_per_second']:,.0f} evaluations/s (forward and backward), plain torch "
            f"{rate['plain_per_second']:,.0f}/s: {rate['ratio']:.1f}x (quartiles {low:.1f} to {high:.1f})"
        )
    a9a = distill_and_score()
    print(
        f"a9a distilled in {a9a['distill_seconds']:.1f} s to {a9a['distill_error_of_variance']:.4f} of the teacher's "
        f"variance; the oracle scored {a9a['oracle_rows']:,} rows (L = 500) in {a9a['oracle_seconds']:.3f} s"
    )
    build = build_ten_million()
    print(
        f"{build['points']:,} points added in {build['seconds']:.1f} s, peak memory {build['peak_bytes'] / 2**30:.2f} "
        f"GiB (with the data and libraries alone {build['bytes_of_data'] / 2**30:.2f} GiB)"
    )
    print("written:", write_result("speed", {"kernel": rates, "a9a": a9a, "build": build}).name)


if __name__ == "__main__":
    main()
