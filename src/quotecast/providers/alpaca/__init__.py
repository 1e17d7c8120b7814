"""Alpaca: US stocks."""
