"""The market as a plan shows it: whole, delayed, or some feeds of it."""
