"""Users and what is theirs, in PostgreSQL."""
