"""Checks of what upstreams send: numbers, times, prices and bars."""
