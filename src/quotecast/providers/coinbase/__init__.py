"""Coinbase Exchange: crypto pairs, without a key."""
