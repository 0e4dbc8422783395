"""Reads a pasted sentence of Kubernetes without a cluster: each clause, who writes it, its rule, its usual cause.

Imports only. `decoding` takes a paste apart and answers, and `table` reads
every sentence that is known, with its meaning, from `sentences/`.
"""

from .decoding import Decoded, DecodedClause, decode

__all__ = ["Decoded", "DecodedClause", "decode"]
