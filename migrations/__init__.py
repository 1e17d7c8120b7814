"""Every change of the tables: written by `piccolo migrations new`, run by `quotecast migrate`."""
