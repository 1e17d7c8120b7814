"""Benchmarks against peers in one run: `just bench`."""
