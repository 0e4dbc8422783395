"""Resource requests and limits of containers, pods and claims."""

from __future__ import annotations

import attrs

from .meta import EMPTY, Frozen


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Resources:
    """resources: quantities by resource name, as canonical text."""

    requests: Frozen = EMPTY
    limits: Frozen = EMPTY
    rest: Frozen = EMPTY
