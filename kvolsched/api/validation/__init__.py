"""Validation: the rules by which the API server refuses an object or an update, with its field paths and messages."""
