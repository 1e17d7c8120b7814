"""In front of the routes: CORS, identity, rate limits, errors, the access log and static pages."""
