"""Access of routes to the market: services, names, search, past quotes."""
