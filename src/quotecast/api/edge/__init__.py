"""The process `quotecast edge`: a mirror of the feeds elsewhere, which forwards what only the origin has."""
