"""The endpoints of alerts, their events and their receivers."""
