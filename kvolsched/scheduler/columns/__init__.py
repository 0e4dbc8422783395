"""The columns: what the scheduler has seen, as one numpy array per fact with one row per node."""
