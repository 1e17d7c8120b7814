"""PostgreSQL: the tables, their migrations, and transactions on a pool of connections."""
