"""How much a source of manifests may hold: the only place where these numbers stand."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Limits:
    """Sizes that are refused above, each with words of its own."""

    size: int = 512 * 10**6  # bytes a source
    documents: int = 200_000  # a source
    nesting: int = 100  # mappings and lists inside each other
    expansion: int = 10  # aliases may stand for so many times the text


LIMITS = Limits()
