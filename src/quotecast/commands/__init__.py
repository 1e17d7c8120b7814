"""The commands that operators type: doctor, migrate, users, record."""
