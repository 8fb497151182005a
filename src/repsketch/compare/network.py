"""Int8 networks of one to three hidden layers, as wide as the budget allows, trained in C like our own models."""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from ..errors import InputError
from ..parallel import Workers
from ..runtime import runtime_for
from ..train.clock import OutOfTime
from ..train.fitter import MAX_ENTRIES
from ..train.recipes import has_numbers
from ..train.stage_recipes import FEW_ROWS, VALUES, StageRecipe
from ..train.stage_shape import NetworkHead, Shape, StageShape
from ..train.stage_sizes import MAX_WIDTH, TAPER
from ..train.stage_trials import StageRows, StageTrials
from ..train.training_data import TrainingData
from .features import varying_columns
from .network_arrays import input_arrays, network_arrays, network_from, pack_dense, unpack_dense
from .peer import PeerModel, offset_nbytes, validation_loss
from .tuning import N_SCREENED, PeerMethod, Settings, tune_each

SCREENING_STEPS, FINAL_STEPS = 1_500, 12_000  # of a small network; larger ones are trained for fewer
MAX_UNITS = MAX_WIDTH  # of the first layer, as in our own models
#: Hyper-parameters that are drawn at random, with the values of our own search.
DRAWN = ("learning_rate", "weight_decay", "noise")
N_HIDDEN = (1, 2, 3)
_MAX_DRAWS = 1_000


class Network(PeerMethod):
    """Networks whose hidden layers become narrower by a factor. Settings are fields of ``StageRecipe``."""

    name = "int8 network"
    pack, unpack = staticmethod(pack_dense), staticmethod(unpack_dense)

    @cached_property
    def used(self) -> TrainingData:
        """The data without columns that are constant in the training rows."""
        data, columns = self.data, varying_columns(self.data)
        data = data if len(columns) == data.n_columns else data.using(columns)
        return data.subset(MAX_ENTRIES // data.n_values, self.seed)

    @cached_property
    def _rows(self) -> StageRows:
        return StageRows(self.used)

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """A few designed settings, then random draws; those that are likely best come first."""
        yield from islice(self._all_settings(), N_SCREENED)

    def few_settings(self, nbytes: int, n: int) -> list[Settings]:
        """The first ones."""
        return list(islice(self.settings(nbytes), n))

    def _all_settings(self) -> Iterator[Settings]:
        """Each setting once."""
        rng, known = np.random.default_rng([self.seed, 30]), list[Settings]()
        for setting in chain(self.designed(), (self.draw(rng) for _ in range(_MAX_DRAWS))):
            if setting not in known:
                known.append(setting)
                yield setting

    def designed(self) -> list[Settings]:
        """Settings that differ in what matters most: layers, regularisation, scaling and soft labels."""
        data = self.data
        is_few = data.task == "classification" and len(data.train_rows) < FEW_ROWS * data.n_columns
        plain = {
            "n_hidden": 2, "learning_rate": 0.02, "weight_decay": 0.03, "noise": 0.3 if is_few else 0.0,
            "scaling": "standard", "mixture": self.mixtures[0],
        }  # fmt: skip
        changes: list[Settings] = [
            {}, {"n_hidden": 1, "weight_decay": 0.3, "noise": 0.1}, {"scaling": self._scalings[-1]},
            {"weight_decay": 0.3}, {"n_hidden": 1}, {"n_hidden": 3},
            *({"mixture": mixture} for mixture in self.mixtures),
        ]  # fmt: skip
        return [plain | change for change in changes]

    def draw(self, rng: np.random.Generator) -> Settings:
        """A setting at random."""
        choices = {name: VALUES[name] for name in DRAWN}
        choices |= {"n_hidden": N_HIDDEN, "scaling": self._scalings, "mixture": self.mixtures}
        return {name: values[int(rng.integers(len(values)))] for name, values in choices.items()}

    @property
    def _scalings(self) -> tuple[str, ...]:
        return VALUES["scaling"] if has_numbers(self.data) else VALUES["scaling"][:1]

    def _trials(self, setting: Settings) -> StageTrials:
        return StageTrials(self._rows, StageRecipe(activation="relu", **setting), self.seed)

    def shape(self, setting: Settings, nbytes: int) -> Shape | None:
        """The widest network that fits."""
        fixed = sum(array.nbytes for array in input_arrays(self._trials(setting).inputs).values())
        low, high = 0, MAX_UNITS
        while low < high:
            middle = (low + high + 1) // 2
            fits = fixed + self.nbytes_of(shape_of(setting, middle)) <= nbytes
            low, high = (middle, high) if fits else (low, middle - 1)
        return shape_of(setting, low) if low else None

    def nbytes_of(self, shape: Shape) -> int:
        """Bytes of all arrays but those of the inputs: matrices, 2 a unit, the last layer with gains and offsets.

        A shared gain may take fewer.
        """
        widths, data = (self.used.n_values, *shape.widths), self.data
        matrices = (self.matrix_nbytes(*size, s) for size, s in zip(pairwise(widths), shape.sparsities, strict=True))
        return sum(matrices) + 2 * sum(shape.widths) + shape.widths[-1] * data.n_outputs + 2 * offset_nbytes(data)

    def matrix_nbytes(self, n_inputs: int, n_units: int, sparsity: float) -> int:
        """Bytes of a matrix, at most."""
        return n_inputs * n_units

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel | None]:
        """Networks of this shape."""
        return self.fit_each([(shape, setting) for setting in settings])

    def fit_each(self, wanted: list[tuple[Any, Settings]]) -> list[PeerModel | None]:
        """Networks of these shapes and settings, side by side; None where the training diverged."""
        with Workers() as workers:
            return workers.map(
                [partial(self._fit, *pair, lambda: workers.is_stopped() or self.is_late()) for pair in wanted]
            )

    def _fit(self, shape: Shape, setting: Settings, is_stopped: Callable[[], bool]) -> PeerModel | None:
        data, trials = self.data, self._trials(setting)
        n_steps = trials.n_steps(shape, max(1, round(self.step_share * self._steps)))
        try:
            model = trials.trained(shape, n_steps, is_stopped)
        except (InputError, OutOfTime):  # the first: a training that diverged
            return None
        stored = network_arrays(model, data, self.pack)

        def outputs(X: np.ndarray) -> np.ndarray:
            return runtime_for(network_from(stored, model, self.unpack)).outputs(X)

        loss = validation_loss(data, outputs(data.X[data.validation_rows]))
        widths = [self.used.n_values, *shape.widths, data.n_outputs]
        return PeerModel(self.name, outputs, stored, loss, setting | {"widths": widths, "n_steps": n_steps})

    @property
    def _steps(self) -> int:
        """Steps of a small network."""
        return SCREENING_STEPS if self.is_screening else FINAL_STEPS


def shape_of(setting: Settings, width: int) -> Shape:
    """The shape whose first layer has this width.

    >>> shape_of({"n_hidden": 3}, 10).widths
    (10, 7, 5)
    """
    sparsity, n_hidden = setting.get("sparsity", 0.0), setting["n_hidden"]
    widths = (max(1, round(width * TAPER**k)) for k in range(n_hidden))
    return Shape(tuple(StageShape(p, "relu", sparsity=sparsity) for p in widths), NetworkHead())


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best int8 network of at most ``nbytes`` bytes, or None if not one unit fits."""
    return tune_each(Network, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
