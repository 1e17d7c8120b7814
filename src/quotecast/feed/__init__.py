"""The worker's side of the bus: the mirror of last values and the hub that fans them out."""
