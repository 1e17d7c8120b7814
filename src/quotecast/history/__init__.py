"""The past of the feeds: final bars in PostgreSQL, and segments of all that was published."""
