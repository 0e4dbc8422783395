"""Sections of `kubectl describe`, one file for each group of kinds or for a section that several kinds share."""
