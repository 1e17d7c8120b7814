"""The parts of a worker: its application, its services, and their start and stop."""
