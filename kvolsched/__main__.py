"""`python -m kvolsched` is the command line."""

from .cli import main

main()
