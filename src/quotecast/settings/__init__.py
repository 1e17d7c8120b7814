"""The settings: environment variables, their types and bounds, and what is wrong with them together."""
