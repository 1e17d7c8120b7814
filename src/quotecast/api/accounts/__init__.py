"""What routes open accounts with: keys, log-ins, alerts."""
