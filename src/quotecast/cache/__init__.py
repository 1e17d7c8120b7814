"""Answers of upstreams, kept in Redis for all workers."""
