"""Sources of quotes: one folder per upstream, none known past this package."""
