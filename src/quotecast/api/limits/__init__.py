"""The rate limits of requests, repeated answers, and the log of requests."""
