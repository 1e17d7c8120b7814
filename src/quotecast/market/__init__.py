"""The market domain: instruments, quotes, sessions. No async, no I/O."""
