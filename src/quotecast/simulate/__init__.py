"""Servers that speak the wire formats of market-data vendors, with the prices of the simulated market."""
