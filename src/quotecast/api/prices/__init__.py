"""Prices of any instrument on any day in any currency: rates, daily closes and their products."""
