"""The forms of an answer: JSON, CSV, negotiated, and kept while its feed stays the same."""
