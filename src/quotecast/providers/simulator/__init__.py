"""A simulated market: the same seed yields the same market on every machine."""
