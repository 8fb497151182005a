"""How each dataset is trained and distilled, and at which sizes methods are compared; the same for all seeds."""

from dataclasses import dataclass, field
from typing import Any

from ..datasets import PAPER_SIZES, PaperSizes

#: Memory reductions at which methods are compared, in numbers of the network over numbers of the method.
REDUCTIONS = (5, 10, 50, 100, 500, 1000)
#: Those of the table of winners.
TABLE_REDUCTIONS = (10, 50, 100, 500)

#: Rows that methods are trained on, the sketch's refit and the networks alike; the teacher and the kernel see all.
MOST_ROWS = 16_000
#: What a quick run does less of, so that all six datasets take minutes.
QUICK_ROWS, QUICK_EPOCHS, QUICK_REDUCTIONS = 4_000, 30, (10, 100)

RATES = (1e-3, 3e-3, 1e-2)  # tried when a pruned network is tuned
#: Options of ``distill``, the same for all datasets but where ``Settings.kernel`` says otherwise: chosen on validation
#: rows of abalone and phishing (three to five seeds), a9a, skin and YearMSD (one seed).
DISTILL: dict[str, Any] = {"kernel": "closed_form", "n_points": 128, "learning_rate": 0.02, "batch_size": 128}
STEPS, QUICK_STEPS = 2_500, 500  # of distillation, about; at least two passes over the rows, at most 200


@dataclass(frozen=True)
class Settings:
    """What a run of one dataset needs to know."""

    sizes: PaperSizes
    teacher: dict[str, Any]  # options of train_mlp
    pruning: dict[str, Any] = field(default_factory=lambda: {"n_epochs": 5, "learning_rates": RATES})
    distilled: dict[str, Any] = field(default_factory=lambda: {"n_epochs": 10})
    #: Other options of ``distill`` for kernels of the paper's own p and K; by validation rows, five seeds.
    kernel: dict[str, Any] = field(default_factory=dict)
    n_steps: int = STEPS  # of distilling those

    @property
    def distill(self) -> dict[str, Any]:
        """Options of ``distill`` at the paper's sizes."""
        penalty = self.norm_penalty(self.sizes.n_rows, 2**self.sizes.n_concat)
        return {**DISTILL, "norm_penalty": penalty, **self.kernel}

    def norm_penalty(self, n_rows: int, n_buckets: int) -> float:
        """The variance that folding into R buckets of L rows adds; a quarter of it for classes.

        Their signs survive more noise than values do.
        """
        penalty = 1.0 / (n_rows * (n_buckets - 1))
        return penalty if self.sizes.task == "regression" else 0.25 * penalty


_LARGE: dict[str, Any] = {"pruning": {"n_epochs": 3, "learning_rates": RATES}, "distilled": {"n_epochs": 8}}
_MEDIUM: dict[str, Any] = {
    "pruning": {"n_epochs": 8, "learning_rates": RATES},
    "distilled": {"n_epochs": 20},
}
_SMALL: dict[str, Any] = {
    "pruning": {"n_epochs": 30, "batch_size": 64, "learning_rates": RATES},
    "distilled": {"n_epochs": 40, "batch_size": 128},
}
SETTINGS = {
    "a9a": Settings(PAPER_SIZES["a9a"], {"n_epochs": 5, "dropout": 0.5}),
    "phishing": Settings(
        PAPER_SIZES["phishing"],
        {"n_epochs": 20, "dropout": 0.2},
        **_MEDIUM,
        kernel={"n_points": 256, "learning_rate": 0.01},
        n_steps=6_250,
    ),
    "skin": Settings(PAPER_SIZES["skin"], {"n_epochs": 5, "dropout": 0.0}),
    "susy": Settings(PAPER_SIZES["susy"], {"n_epochs": 4, "dropout": 0.2}, **_LARGE),
    "abalone": Settings(
        PAPER_SIZES["abalone"],
        {"n_epochs": 40, "dropout": 0.0, "batch_size": 64},
        **_SMALL,
        kernel={"learning_rate": 0.05},
        n_steps=2 * STEPS,
    ),
    "yearmsd": Settings(PAPER_SIZES["yearmsd"], {"n_epochs": 12, "dropout": 0.5}, **_MEDIUM),
}
