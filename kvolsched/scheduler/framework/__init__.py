"""The scheduling framework: extension points, the values that plugins return, and the pass that calls plugins."""
