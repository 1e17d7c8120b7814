"""Bars of our own in PostgreSQL: their partitions, their writer in ingest, and their reader in workers."""
