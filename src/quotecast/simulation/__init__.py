"""A simulated market, and servers that speak the wire formats of vendors with its prices."""
