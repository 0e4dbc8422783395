"""Columns: what the scheduler has seen, as one numpy array a fact with one row a node."""
