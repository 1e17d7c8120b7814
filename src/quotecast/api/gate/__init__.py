"""Who a request is from, and what it may read: addresses, users, API keys, plans, operators."""
