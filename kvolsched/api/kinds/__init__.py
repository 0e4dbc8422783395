"""The kinds: what may be written in a manifest, one file for each group of kinds."""
