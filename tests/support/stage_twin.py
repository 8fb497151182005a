"""The trainer of stages once more, in plain NumPy and float64: outputs, loss and gradients of a batch.

Everything is in the units of the parameters: standardised values, z in widths of a table. With ``scales`` numbers are
the deployed integers, and gradients pass through the rounding.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from repsketch.train.stage_shape import Shape
from repsketch.train.stages import LabelledRows, Trained, moments

STEPS, LIMIT, TOP = 64.0, 4095, 127 / 16


@dataclass
class Twin:
    """One batch; ``gradients`` has the names of the parameters."""

    trained: Trained
    rows: LabelledRows
    loss_name: str
    mixture: float
    level: float
    is_rounded: bool
    gradients: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shape: Shape = self.trained.shape
        self.numbers = {name: array.astype(np.float64) for name, array in self.trained.parameters.items()}
        self.scales: dict[str, Any] = self.trained.scales
        self.integers = {name: array.astype(np.float64) for name, array in self.trained.integers.items()}
        if self.is_rounded:
            for name in ("counters", "decode", "linear"):
                if name in self.integers:
                    step = self.scales[{"counters": "counter_step"}.get(name, f"{name}_step")]
                    self.numbers[name] = self.integers[name] * step
            self.numbers["offset"] = self.integers["offset"]

    # -- forward --------------------------------------------------------------------------------

    def outputs(self) -> np.ndarray:
        """Outputs (n, C); what the way back needs stays here."""
        means, deviations = (array.astype(np.float64) for array in moments(self.rows.values))
        values = self.rows.values.astype(np.float64)
        self.inputs, self.z, self.matrices = [(values - means) / deviations], [], []
        carried, units = values, 1.0 / deviations
        outputs = np.repeat(self.numbers["offset"][None], len(values), axis=0)
        for k in range(len(self.shape.widths)):
            z, matrix = self._project(k, carried, units)
            self.z.append(z)
            self.matrices.append(matrix)
            if k < len(self.shape.stages):
                carried, step = self._activate(k, z)
                units = np.full(len(carried[0]), step)
                self.inputs.append(carried * step)
            if self._linear(k) is not None:
                outputs = outputs + z @ self._linear(k)
        if self.shape.rows is not None:
            outputs = outputs + self._read_rows()
        last = self.z[-1] if self.shape.rows is not None else self.inputs[-1]
        return outputs + last @ self.numbers["linear"] if "linear" in self.numbers else outputs

    def _project(self, k: int, carried: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self.is_rounded:
            matrix = self.numbers[f"matrix {k}"]
            return self.inputs[k] @ matrix + self.numbers[f"shift {k}"], matrix
        scale = self.scales["stages"][k]
        entries, power = self.integers[f"matrix {k}"], 2.0 ** scale["right_shift"]
        sums = carried @ entries * scale["multipliers"]
        z = np.floor(sums / power + 0.5 * (power > 1)) + self.integers[f"shift {k}"] * 2.0 ** scale["shift_bits"]
        return np.clip(z, -LIMIT, LIMIT) / STEPS, entries * scale["multipliers"] / power / STEPS / units[:, None]

    def _activate(self, k: int, z: np.ndarray) -> tuple[np.ndarray, float]:
        stage = self.shape.stages[k]
        if stage.activation == "table":
            table, step = self._table(k)
            read = interpolate(table, z)[0]
            return (np.floor(read + 0.5) if self.is_rounded else read), step
        low = 0.0 if stage.activation == "relu" else -TOP
        read = np.clip(z, low, TOP)
        return (np.floor(read * 16 + 0.5), 1 / 16) if self.is_rounded else (read, 1.0)

    def _table(self, k: int) -> tuple[np.ndarray, float]:
        if not self.is_rounded:
            return self.numbers[f"tables {k}"], 1.0
        return self.integers[f"tables {k}"], self.scales["stages"][k]["output_step"]

    def _linear(self, k: int) -> np.ndarray | None:
        if f"linear {k}" not in self.numbers:
            return None
        if not self.is_rounded:
            return self.numbers[f"linear {k}"]
        return self.integers[f"linear {k}"] * self.scales["stages"][k]["linear_step"]

    def _read_rows(self) -> np.ndarray:
        rows = self.shape.rows
        read = np.stack([interpolate(self.numbers["counters"][..., q], self.z[-1])[0]
                         for q in range(self.numbers["counters"].shape[2])], axis=2)  # fmt: skip
        self.read = read[..., 0] if rows.factored else read
        return self.read @ self.numbers["decode"] if rows.factored else read.sum(axis=1)

    # -- loss -----------------------------------------------------------------------------------

    def loss(self) -> float:
        """Mean loss; the slopes by the outputs stay here."""
        outputs = self.outputs()
        labels, soft_labels = self.rows.labels, self.rows.soft_labels
        mixture = 0.0 if soft_labels is None else self.mixture
        soft_labels = labels if soft_labels is None else soft_labels
        n, n_outputs = outputs.shape
        weights = np.ones(n) if self.rows.weights is None else self.rows.weights / self.rows.weights.mean()
        if self.loss_name in ("logistic", "softmax"):
            targets, share = (1 - mixture) * labels + mixture * soft_labels, weights[:, None] / n
            if self.loss_name == "logistic":
                losses, slopes = np.logaddexp(0, outputs) - targets * outputs, 1 / (1 + np.exp(-outputs)) - targets
            else:
                total = np.logaddexp.reduce(outputs, axis=1)[:, None]
                losses, slopes = targets * (total - outputs), np.exp(outputs - total) - targets
        else:
            share, error = weights[:, None] / (n * n_outputs), outputs - labels
            below, above = (self.level, 1 - self.level) if self.loss_name == "quantile" else (1.0, 1.0)
            losses, slopes = np.where(error < 0, -below, above) * error, np.where(error < 0, -below, above)
            if self.loss_name == "squared":
                losses, slopes = error**2, 2 * error
            losses = (1 - mixture) * losses + mixture * (outputs - soft_labels) ** 2
            slopes = (1 - mixture) * slopes + 2 * mixture * (outputs - soft_labels)
        self.slopes = slopes * share
        return float((losses * share).sum())

    # -- the way back ---------------------------------------------------------------------------

    def run(self) -> float:
        """The mean loss, after which ``gradients`` are there."""
        found = self.loss()
        g, out = self.slopes, self.gradients
        out["offset"] = g.sum(axis=0) * self.shape.has_offset
        last = len(self.shape.widths) - 1
        if self.shape.rows is not None:
            by_z = self._rows_backward(g)
            if "linear" in self.numbers:
                out["linear"] = self.z[-1].T @ g
                by_z = by_z + g @ self.numbers["linear"].T
        else:
            out["linear"] = self.inputs[-1].T @ g
            by_z = self._activation_backward(last, g @ self.numbers["linear"].T)
        for k in range(last, -1, -1):
            out[f"matrix {k}"] = self.inputs[k].T @ by_z
            if self.shape.sparsities[k]:
                out[f"matrix {k}"] *= self.numbers[f"matrix {k}"] != 0
            out[f"shift {k}"] = by_z.sum(axis=0)
            if k:
                by_z = self._activation_backward(k - 1, by_z @ self.matrices[k].T)
        return found

    def _rows_backward(self, g: np.ndarray) -> np.ndarray:
        counters = self.numbers["counters"]
        if self.shape.rows.factored:
            self.gradients["decode"] = self.read.T @ g
            by_read = (g @ self.numbers["decode"].T)[..., None]
        else:
            by_read = np.repeat(g[:, None], counters.shape[0], axis=1)
        self.gradients["counters"] = np.zeros_like(counters)
        by_z = np.zeros_like(self.z[-1])
        for q in range(counters.shape[2]):
            slopes, entries = interpolate(counters[..., q], self.z[-1])[1:]
            by_z += by_read[..., q] * slopes
            self.gradients["counters"][..., q] = np.einsum("nlr,nl->lr", entries, by_read[..., q])
        return by_z

    def _activation_backward(self, k: int, by_output: np.ndarray) -> np.ndarray:
        z, stage = self.z[k], self.shape.stages[k]
        if stage.activation == "table":
            table, step = self._table(k)
            _, slopes, entries = interpolate(table * step, z)
            self.gradients[f"tables {k}"] = np.einsum("npr,np->pr", entries, by_output)
        else:
            slopes = (z > (0.0 if stage.activation == "relu" else -TOP)) & (z < TOP)
        by_z = by_output * slopes
        if self._linear(k) is not None:
            self.gradients[f"linear {k}"] = z.T @ self.slopes
            by_z = by_z + self.slopes @ self._linear(k).T
        return by_z


def interpolate(tables: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reads (n, p) of tables (p, R) at z (n, p), slopes (n, p) by z, and shares of the entries (n, p, R)."""
    n_entries = tables.shape[1]
    raw = z + (n_entries - 1) / 2
    u = np.clip(raw, 0, n_entries - 1)
    lower = np.minimum(np.floor(u), n_entries - 2).astype(int)
    entries = (1 - (u - lower))[..., None] * (np.arange(n_entries) == lower[..., None])
    entries = entries + (u - lower)[..., None] * (np.arange(n_entries) == lower[..., None] + 1)
    columns = np.arange(len(tables))
    slopes = tables[columns, lower + 1] - tables[columns, lower]
    return np.einsum("npr,pr->np", entries, tables), slopes * ((raw >= 0) & (raw < n_entries - 1)), entries
