"""Networks counted as the paper counts them: parameters by torchinfo, multiply-adds by fvcore."""

import warnings

import torch
from torch import nn

from repsketch.errors import require


def count_network(network: nn.Sequential) -> tuple[int, int]:
    """Parameters of a network, and multiply-adds of one prediction.

    >>> count_network(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)))
    (11, 8)
    """
    row = torch.zeros(1, next(network.parameters()).shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fvcore traces with what torch calls deprecated
        counter = require("fvcore.nn", "bench").FlopCountAnalysis(network, row)
        counter.unsupported_ops_warnings(False)
        flops = int(counter.total())
    summary = require("torchinfo", "bench").summary(network, input_data=row, verbose=0)
    return summary.total_params, flops
