"""User accounts in PostgreSQL: credentials, holdings, watchlists and layouts."""
