"""The scheduler: columns of what it has seen, the scheduling framework, its plugins, and the scheduling loop."""
