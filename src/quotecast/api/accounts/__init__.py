"""Access of routes to accounts: keys, log-ins, alerts."""
