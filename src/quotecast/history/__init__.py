"""The recorded past of the feeds: segments of published batches, and what reads them."""
