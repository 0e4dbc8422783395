"""An object of a kind that no rule reads: its metadata, and all else as it was written."""

import attrs

from ..notebook_output import ShownAsYaml
from .meta import ManifestPart, ObjectMeta


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False)
class UnmodelledObject(ShownAsYaml, ManifestPart):
    """An object that is stored, listed and watched, and decides nothing; its kind is a field."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
