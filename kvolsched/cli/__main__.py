"""`python -m kvolsched.cli` is the command line."""

from .commands import main

main()
