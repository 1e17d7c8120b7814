"""A user's holdings, watchlists and layout."""
