"""The settings: environment variables, their types and bounds, and checks of their combination."""
