"""Budgets: what a person types becomes a number of bytes, or is refused."""

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.train.budget import parse_budget

ALLOWED = {
    700: 700,
    np.int32(700): 700,
    "700": 700,
    "512B": 512,
    "512 bytes": 512,
    "1 byte": 1,
    "4KB": 4096,
    "1kb": 1024,
    "1 KB": 1024,
    "1K": 1024,
    "1k": 1024,
    "1KiB": 1024,
    "1.5KB": 1536,
    "1.5 kb": 1536,
    " 2KB ": 2048,
    "0.5MB": 524_288,
    "1M": 1_048_576,
    "2 MiB": 2_097_152,
    "0.7KB": 716,  # 716.8, rounded down
    "0.3B": None,  # less than a byte
    "1.5": 1,
    ".5KB": 512,
    "0.1MB": 104_857,
    "1.1KB": 1126,
}
REFUSED = (
    0, -1, 1.5, True, None, b"4KB", "", " ", "KB", "0", "0KB", "-1KB", "+1KB", "4GB", "4 K B", "1,5KB", "1e3", "1_000",
    "nan", "inf", "1.5.2KB", "1.KB.", "4KBs", "four KB", "1" * 40 + "KB", "1\n2KB", "\u0661KB", "4kilobytes",
)  # fmt: skip


@pytest.mark.parametrize("budget", [budget for budget, nbytes in ALLOWED.items() if nbytes], ids=repr)
def test_allowed(budget):
    assert parse_budget(budget) == ALLOWED[budget]
    assert type(parse_budget(budget)) is int


@pytest.mark.parametrize("budget", [*REFUSED, *(budget for budget, nbytes in ALLOWED.items() if not nbytes)], ids=repr)
def test_refused(budget):
    with pytest.raises(InputError, match=r"^budget=.*; allowed is a number of bytes above 0, or text such as"):
        parse_budget(budget)
