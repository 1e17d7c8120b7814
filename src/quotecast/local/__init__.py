"""`quotecast up` and the processes that it starts: PostgreSQL, Valkey, ingest and API workers."""
