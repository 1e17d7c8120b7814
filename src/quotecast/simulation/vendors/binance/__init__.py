"""A simulated Binance spot exchange.

Source of the format: Binance spot API documentation, "REST API", "WebSocket streams" and "Error codes".
"""
