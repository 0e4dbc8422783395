"""Limits on the size of manifests that are read."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Limits:
    """The largest sizes that are read; larger ones are refused."""

    size: int = 512 * 10**6  # bytes of one source
    documents: int = 200_000  # in one source
    nesting: int = 100  # mappings and lists inside each other
    expansion: int = 10  # size after expanding YAML aliases, as a multiple of the text


LIMITS = Limits()
