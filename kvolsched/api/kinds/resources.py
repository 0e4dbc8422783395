"""What a container, a pod or a claim asks for: quantities by resource name, as canonical text."""

from __future__ import annotations

import attrs

from .meta import EMPTY, Frozen


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Resources:
    """resources of a container or a claim: quantities by resource name, as canonical text."""

    requests: Frozen = EMPTY
    limits: Frozen = EMPTY
    rest: Frozen = EMPTY
