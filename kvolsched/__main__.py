"""`python -m kvolsched` is the command line."""

from .cli import run

run()
