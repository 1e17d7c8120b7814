"""Commands for operators: doctor, migrate, users, record."""
