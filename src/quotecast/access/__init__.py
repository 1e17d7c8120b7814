"""Access to the market: API keys, the plans that they stand for, and the worker's copy of both."""
