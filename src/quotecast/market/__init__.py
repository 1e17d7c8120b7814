"""The market's own words, pure: instruments, quotes, sessions. No async, no I/O."""
