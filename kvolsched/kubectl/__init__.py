"""kubectl on a simulated cluster: what the real kubectl prints for `get` and `describe`, byte for byte.

`command_line` runs whole commands, `get_command` answers two of them; `printers` has what they print of each kind, and
`formatting` formats values.
"""

from .command_line import complete, kubectl
from .get_command import describe, get
from .output import CommandOutput, Description, Listing, Listings
from .resource_lookup import ResourceNotFound

__all__ = [
    "CommandOutput", "Description", "Listing", "Listings", "ResourceNotFound", "complete", "describe", "get", "kubectl",
]  # fmt: skip
