"""What the paper prints in its Table 1, figure by figure, to stand beside ours."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """One row of the paper's Table 1. Accuracy, or mean absolute error for abalone and YearMSD.

    Memory is in megabytes of 64-bit numbers, FLOPs count multiply-adds for networks.
    """

    network: float
    kernel: float
    sketch: float
    network_megabytes: float
    sketch_megabytes: float
    memory_reduction: float
    network_flops: float
    sketch_flops: float
    flops_reduction: float


#: As printed, misprints included: SUSY's sketch memory contradicts its reduction and its parameters, and abalone's
#: network has 34.94 K operations, not M (erratum 4).
PRINTED = {
    "a9a": Printed(0.820, 0.829, 0.829, 1.82, 0.016, 114, 0.227e6, 3.8e3, 59),
    "phishing": Printed(0.954, 0.954, 0.954, 1.60, 0.031, 51, 0.199e6, 9.8e3, 20),
    "skin": Printed(0.999, 0.997, 0.997, 0.338, 0.019, 17.8, 41.78e3, 3.97e3, 11),
    "susy": Printed(0.803, 0.802, 0.790, 5.73, 0.41, 69, 0.715e6, 0.177e6, 4),
    "abalone": Printed(1.51, 1.52, 1.51, 0.28, 0.006, 46, 34.94e6, 2.38e3, 14),
    "yearmsd": Printed(12.06, 12.05, 11.24, 6.25, 0.12, 50, 0.78e6, 87.5e3, 10),
}
#: Cells of ``PRINTED`` that no reading of the formulas gives: (dataset, field) and why.
MISPRINTS = {
    ("susy", "sketch_megabytes"): "18 * 250 + 1000 * 4 numbers of 64 bits are 0.068 MB",
    ("susy", "memory_reduction"): "716,801 network parameters over 8,500 are 84x; 5.73 / 0.41 would be 14x",
    ("abalone", "network_flops"): "34.94 K, not M",
    ("yearmsd", "flops_reduction"): "0.78 M over 87.5 K are 9x",
}
