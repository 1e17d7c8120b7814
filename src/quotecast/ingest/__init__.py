"""The process that reads upstreams and writes the bus."""
