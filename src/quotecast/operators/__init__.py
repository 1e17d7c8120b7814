"""Operators: users who may sign in to the page /admin, their sessions, and the log of their actions."""
