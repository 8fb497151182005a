"""Beyond the paper: from training data and a budget to a model in integers, as a device computes it."""
