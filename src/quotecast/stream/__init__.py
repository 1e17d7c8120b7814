"""Feeds over WebSocket: the server, its public port and the endpoints."""
