"""Connections to upstreams: HTTP and WebSocket clients with bounds, rates, back-off and recording."""
