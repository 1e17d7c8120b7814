"""TradingView's UDF protocol over the service's quotes, bars, search and news."""
