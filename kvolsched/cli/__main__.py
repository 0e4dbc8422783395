"""`python -m kvolsched.cli` is the command line."""

from . import main

main()
