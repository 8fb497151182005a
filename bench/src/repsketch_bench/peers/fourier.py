"""Random Fourier features (Rahimi and Recht 2007): cosines of seeded frequencies, and int8 weights on them."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from repsketch.compare.peer import PeerModel
from repsketch.compare.tuning import Settings, tune_each
from repsketch.model.numbers import decode_bfloat16, encode_bfloat16
from repsketch.paper.initialize import initial_bandwidth
from repsketch.train.training_data import TrainingData

from .descent import GradientTrained
from .layers import Layers, layers_nbytes, layers_outputs
from .stack import TrainingRows

WIDTHS = (0.25, 0.5, 1.0, 2.0)  # of the kernel, in medians of the distance of two rows
RATES = (3e-3, 1e-2, 3e-2)
MOST_FEATURES = 2_048  # more take minutes
SEED_NBYTES, WIDTH_NBYTES = 4, 2
_ROWS = 4_096  # computed at a time


class Fourier(GradientTrained):
    """Frequencies from a seed, which is all that is stored of them, for several widths of a Gaussian kernel."""

    name = "Fourier features"

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Widths of the kernel, rates and shares of the teacher."""
        for width, rate, mixture in product(WIDTHS, RATES, self.mixtures):
            yield {"width": width, "rate": rate, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[float, int] | None:
        """Width and number of features."""
        n_outputs = self.data.n_outputs
        fixed = self.features.nbytes + SEED_NBYTES + WIDTH_NBYTES + layers_nbytes((0, n_outputs), self.data)
        n_features = min(MOST_FEATURES, (nbytes - fixed) // n_outputs)
        return (setting["width"], n_features) if n_features > 0 else None

    @cached_property
    def _bandwidth(self) -> float:
        return initial_bandwidth(self.row_sets[0].values[:256].numpy(), 1)

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel]:
        """Models of one kernel and so many features."""
        width, n_features = shape
        kernel = {
            "seed": np.array([self.seed], np.uint32),
            "width": encode_bfloat16(np.array([1.0 / (width * self._bandwidth)])),
        }

        def waves(stored: Mapping[str, np.ndarray], values: np.ndarray) -> np.ndarray:
            return cosines(int(stored["seed"][0]), decode_bfloat16(stored["width"])[0], n_features, values)

        train, validation = (
            TrainingRows.of(self.data, rows, waves(kernel, inputs.values.numpy()))
            for rows, inputs in zip((self.data.train_rows, self.data.validation_rows), self.row_sets, strict=True)
        )
        stack = Layers((n_features, self.data.n_outputs), len(settings), self.seed)
        return [
            self.model(
                kernel | stack.stored(numbers, self.data),
                setting | {"n_features": n_features, "stopped": float(numbers["stopped"])},
                lambda stored, values: layers_outputs(stored, 1, waves(stored, values)),
            )
            for setting, numbers in zip(settings, self.trained(stack, settings, (train, validation)), strict=True)
        ]


def cosines(seed: int, frequency: float, n_features: int, values: np.ndarray) -> np.ndarray:
    """Features (n, F) of values (n, D): cosines at random frequencies and phases.

    >>> cosines(0, 1.0, 3, np.zeros((2, 5), np.float32)).shape
    (2, 3)
    """
    rng = np.random.default_rng([seed, 5])
    phases = (2.0 * np.pi * rng.random(n_features)).astype(np.float32)
    matrix = (frequency * rng.normal(size=(n_features, values.shape[1]))).T.astype(np.float32)
    made = np.empty((len(values), n_features), np.float32)
    for start in range(0, len(values), _ROWS):
        block = slice(start, start + _ROWS)
        np.cos(values[block] @ matrix + phases, out=made[block])
    return made


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best model on Fourier features of at most ``nbytes`` bytes, or None where not one feature fits."""
    return tune_each(Fourier, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
