"""Text to objects and back: YAML, JSON and plain data, with the place of every fault."""
