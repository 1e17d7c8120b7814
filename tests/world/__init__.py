"""A whole cluster in one process, on virtual time, under faults that a seed draws; see README.md."""
