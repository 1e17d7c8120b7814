"""A simulated Finnhub."""
