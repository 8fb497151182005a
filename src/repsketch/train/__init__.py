"""Beyond the paper: rows that are chosen and counters that are fitted, on whole numbers as a device computes them."""
