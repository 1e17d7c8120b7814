"""Sliding-window rate limits, exact over all workers."""
