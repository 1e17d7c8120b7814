"""The operator's routes: registered only where `QUOTECAST_ADMIN` is on."""
