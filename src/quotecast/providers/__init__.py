"""Where quotes come from: one folder per upstream, none known past this package."""
