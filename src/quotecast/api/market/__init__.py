"""What routes read the market with: services, names, search, past quotes."""
