"""Everything `quotecast up` starts: PostgreSQL, Valkey, ingest and API workers."""
