"""Replays a recorded session of an upstream."""
