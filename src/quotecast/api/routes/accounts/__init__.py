"""The endpoints of accounts: log-in, sessions, API keys, tickets."""
