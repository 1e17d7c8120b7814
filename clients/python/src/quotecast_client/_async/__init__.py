"""The asyncio face; `_sync` is made from it by scripts/make_sync.py."""
