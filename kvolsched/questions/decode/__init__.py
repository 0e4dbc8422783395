"""Reads a pasted sentence of Kubernetes without a cluster: each clause, who writes it, its rule, its usual cause.

Imports only. `decoding` answers, `splitting` takes a paste apart, and `table` reads
every sentence that is known, with its meaning, from `sentences/`.
"""

from .decoding import Decoded, DecodedClause, decode

__all__ = ["Decoded", "DecodedClause", "decode"]
