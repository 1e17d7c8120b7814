"""Finnhub: company data."""
