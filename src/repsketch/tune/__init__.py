"""From a budget in bytes to the sizes of a sketch."""
