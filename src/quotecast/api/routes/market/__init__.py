"""The endpoints of the market: quotes, search, news, companies, events, health."""
