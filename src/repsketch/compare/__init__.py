"""Peers: boosted trees, an int8 network and a linear model of the same bytes, compared with a sketch."""
