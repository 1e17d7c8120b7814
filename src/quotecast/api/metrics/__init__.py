"""The metrics of a worker."""
