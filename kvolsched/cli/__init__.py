"""The command line, `%kubectl` in notebooks, and the redaction of dumps."""

from .commands import main

__all__ = ["main"]
