"""kubectl on a simulated cluster: what the real kubectl prints for `get` and `describe`, byte for byte.

`command_line` runs whole commands, `get_command` and `describe_command` answer two of them; `printers` has
what they print of each kind, and `formatting` formats values.
"""

from .command_line import complete, kubectl
from .describe_command import describe
from .get_command import get
from .output import CommandOutput, Description, Listing, Listings
from .resource_lookup import ResourceNotFound

__all__ = [
    "CommandOutput", "Description", "Listing", "Listings", "ResourceNotFound", "complete", "describe", "get", "kubectl",
]  # fmt: skip
