"""The endpoints of portfolios, watchlists and layouts."""
