"""A simulated Alpaca: market data of US stocks and crypto pairs, news, assets, clock and calendar."""
