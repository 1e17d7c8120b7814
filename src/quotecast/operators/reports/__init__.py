"""What each process says about itself, for the operator's page: short reports in Redis that expire."""
