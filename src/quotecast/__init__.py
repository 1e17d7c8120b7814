"""Self-hosted market data: live quotes over HTTP and WebSocket."""
