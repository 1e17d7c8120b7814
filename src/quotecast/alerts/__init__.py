"""Alerts: from crossings of thresholds to events of users, and their delivery."""
