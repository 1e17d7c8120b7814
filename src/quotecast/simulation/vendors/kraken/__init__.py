"""A simulated Kraken."""
