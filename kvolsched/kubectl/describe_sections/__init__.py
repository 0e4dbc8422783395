"""Sections of `kubectl describe`, one file for each group of kinds."""
