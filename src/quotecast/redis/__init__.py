"""One way to Redis: a server, a cluster or the master that Sentinels name; measured by part."""
