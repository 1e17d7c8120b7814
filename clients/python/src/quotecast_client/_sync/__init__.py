"""The blocking face; made from `_async` by scripts/make_sync.py, except for io.py."""
