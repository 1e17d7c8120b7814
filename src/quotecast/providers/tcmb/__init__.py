"""The Central Bank of Türkiye: its daily bulletin of exchange rates."""
