"""The identity and the rights of a request: addresses, users, API keys, plans, operators."""
