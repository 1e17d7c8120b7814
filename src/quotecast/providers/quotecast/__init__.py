"""Another quotecast as an upstream: its feeds over the relay, its bars and company data over REST."""
