"""Binance spot: crypto pairs and their bars, without a key."""
