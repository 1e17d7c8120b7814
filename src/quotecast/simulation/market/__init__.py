"""The simulated market: prices, trades, candles and company data, as functions of time and a seed."""
