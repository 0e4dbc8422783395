"""A dump with other names, to be shared: `redact` for objects, `kvolsched redact` for files.

Imports only. `words` lists what stays, `names` makes new names, `sentences` replaces names in messages, `objects` in
the fields of an object, and `dump` in all of them; `explanation` tells people, `files` writes.
"""

from .dump import RedactedDump, Redaction, redact
from .explained import explanation
from .files import CannotWrite, check_writable, write_pieces
from .sentences import REDACTED

__all__ = [
    "REDACTED",
    "CannotWrite",
    "RedactedDump",
    "Redaction",
    "check_writable",
    "explanation",
    "redact",
    "write_pieces",
]
