"""Recorded segments as a provider of quotes."""
