"""An invented market, the same for everyone with the same seed."""
