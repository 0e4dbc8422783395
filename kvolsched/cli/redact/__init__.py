"""A dump with other names, to be shared: `redact` for objects, `kvolsched redact` for files.

Imports only. `words` lists what stays, `names` makes new names, `sentences` replaces names in messages, `objects` in
the fields of an object, and `dump` in all of them and writes them; `explanation` tells people.
"""

from .dump import CannotWrite, RedactedDump, Redaction, check_writable, redact, write_pieces
from .sentences import REDACTED
from .words import explanation

__all__ = [
    "REDACTED", "CannotWrite", "RedactedDump", "Redaction", "check_writable", "explanation", "redact", "write_pieces",
]  # fmt: skip
