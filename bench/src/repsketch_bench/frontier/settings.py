"""What is run: budgets, methods, and how much less a quick run does."""

from ..peers import PEERS

OURS = "ours"
BUDGETS = (256, 512, 1024, 2048, 4096, 16_384, 65_536)
METHODS = (OURS, *PEERS)
N_SEEDS = 5
#: About how many seconds a method takes for all budgets on one core: the progress bar's units.
SECONDS = {"teacher": 40, OURS: 150, "boosted": 15, "boosted distilled": 15, "network": 100, "pruned": 100,
           "prototypes": 70, "fourier": 60, "linear": 4, "forest": 20}  # fmt: skip
QUICK_ROWS, QUICK_BUDGETS = 4_000, (512, 4096)

#: Raised by hand when a method comes to compute something else: old results are then not taken for new ones.
REVISIONS = {"teacher": 2, OURS: 14} | dict.fromkeys(PEERS, 9) | {"network": 11, "pruned": 11}
