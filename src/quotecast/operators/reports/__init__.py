"""Reports of each process about itself, for the operator's page: short texts in Redis that expire."""
