"""Users: their accounts, passwords, tokens and sessions."""
