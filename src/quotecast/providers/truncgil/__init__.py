"""Truncgil: currencies, gold and metals of the Turkish market."""
