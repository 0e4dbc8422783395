"""The scheduler: what it has seen as columns, the plugins that judge and rank, and the passes that use them."""
