"""A simulated Coinbase Exchange: products, prices and candles by REST, and the WebSocket feed."""
