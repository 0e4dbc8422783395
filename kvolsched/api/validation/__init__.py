"""Validation: what the API server refuses, in its own field paths and words."""
