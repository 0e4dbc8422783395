"""Convert between manifest text, plain data and objects; report every fault with its line."""
