"""Vendors' servers with the prices of the simulated market."""
