"""Bars over HTTP: their parameters, sources, pages and batches."""
