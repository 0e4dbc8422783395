"""The command line, `%kubectl` in notebooks, and the redaction of dumps."""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .commands import main

__all__ = ["main", "run"]


def run() -> None:
    """Run the command that was typed; `said` loads nothing of the engine."""
    if sys.argv[1:2] == ["said"]:
        from .learning import said_
        from .output import Commands

        Commands("kvolsched", commands=[said_])()
    else:
        from .commands import main

        main()


def __getattr__(name: str) -> Any:
    """Load all commands when they are first asked for."""
    if name != "main":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .commands import main

    return main
