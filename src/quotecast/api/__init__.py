"""The API worker: HTTP and WebSocket in front of the mirror."""
