"""Small trainings of stages: every option of shape and loss; every activation with every head."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repsketch.train.stage_shape import NetworkHead, RowsHead, Shape, StageShape
from repsketch.train.stages import LabelledRows, Schedule, make_trainer

N, N_VALUES, LARGEST = 90, 5, 127
_HIDDEN = {
    "no": (),
    "table": (StageShape(7, n_entries=8, has_linear=True),),
    "tables": (StageShape(6, n_entries=4), StageShape(5, n_entries=16, matrix_bits=4, has_linear=True)),
    "relu": (StageShape(7, "relu", sparsity=0.5),),
    "relus": (StageShape(9, "relu", has_linear=True), StageShape(6, "relu", matrix_bits=4)),
    "clip": (StageShape(7, "clip", has_linear=True),),
    "mixed": (StageShape(6, "clip"), StageShape(5, n_entries=8), StageShape(6, "relu", sparsity=0.3)),
}
_HEADS: dict[str, tuple[RowsHead | NetworkHead, int]] = {
    "rows": (RowsHead(3), 1),
    "narrow": (RowsHead(4, n_levels=4, has_linear=False, matrix_bits=4), 1),
    "factored": (RowsHead(4, n_levels=8, factored=True, sparsity=0.4), 3),
    "factored once": (RowsHead(2, n_levels=16, factored=True, has_linear=False), 1),
    "wide": (RowsHead(3, n_levels=4, has_linear=False), 3),
    "wide linear": (RowsHead(3, n_levels=16), 2),
    "network": (NetworkHead(), 1),
    "networks": (NetworkHead(), 4),
}


@dataclass(frozen=True)
class StageCase:
    """A shape, a loss, and whether there are weights and soft labels."""

    name: str
    shape: Shape
    n_outputs: int
    loss: str
    has_weights: bool
    mixture: float

    @property
    def rows(self) -> LabelledRows:
        """Rows whose labels are curved functions of the values."""
        rng = np.random.default_rng(3)
        values = np.clip(np.rint(rng.normal([4, -20, 30, 0, 9], [40, 20, 5, 60, 30], (N, N_VALUES))), -127, 127)
        x = values / 40.0
        wave = np.stack([np.sin(2 * x[:, 0]) + x[:, 1] * x[:, c % 5] - 0.3 * c for c in range(self.n_outputs)], axis=1)
        labels, soft_labels = wave + 0.1 * rng.normal(size=wave.shape), wave
        if self.loss == "logistic":
            labels, soft_labels = (wave > 0).astype(float), 1 / (1 + np.exp(-wave))
        if self.loss == "softmax":
            labels = np.eye(self.n_outputs)[wave.argmax(axis=1)]
            soft_labels = np.exp(wave) / np.exp(wave).sum(axis=1, keepdims=True)
        weights = rng.random(N) + 0.1 if self.has_weights else None
        return LabelledRows(values.astype(np.int16), labels, soft_labels if self.mixture else None, weights)

    def trainer(self, n_steps: int = 60, isa: int = -1, seed: int = 1, **changes: Any) -> Any:
        """The trainer of the C core, before its first step."""
        schedule = Schedule(n_steps, 0.02, 0.01, noise=0.05, mixture=self.mixture, batch_size=96)
        return make_trainer(
            self.rows, self.rows, self.shape, replace(schedule, **changes), loss=self.loss, level=0.8,
            largest=LARGEST, seed=seed, isa=isa,
        )  # fmt: skip


def _all_cases() -> list[StageCase]:
    found = []
    for i, (hidden, stages) in enumerate(_HIDDEN.items()):
        for j, (head, (last, n_outputs)) in enumerate(_HEADS.items()):
            if not stages and isinstance(last, NetworkHead):
                continue
            losses = ("squared", "absolute", "quantile", "logistic" if n_outputs == 1 else "softmax")
            loss = losses[(i + j + j // 4) % 4]
            mixture = (0.0, 0.4, 1.0)[(i + 2 * j) % 3]
            name = f"{hidden} + {head}, {loss}"
            found.append(StageCase(name, Shape(stages, last), n_outputs, loss, (i + j) % 2 == 1, mixture))
    return found


STAGE_CASES = _all_cases()
