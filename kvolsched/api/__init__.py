"""Kubernetes objects and their manifests: kinds, reading and writing of text, defaults, and validation."""
