"""Measures a feed: ages, silences, gaps, steps back in time and disagreement with REST."""
