"""Other models of the same bytes, beside a sketch: boosted trees, an int8 network, a linear model."""
