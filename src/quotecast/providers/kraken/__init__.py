"""Kraken: quotes of the WebSocket interface's second version, bars of the REST interface."""
