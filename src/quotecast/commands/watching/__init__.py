"""The live table of `quotecast watch`, on the Python client; it needs the extra `watch`."""
