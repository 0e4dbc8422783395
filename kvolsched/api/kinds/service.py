"""Service: its selector spreads pods that have no topology spread constraints."""

from typing import ClassVar

import attrs

from .meta import EMPTY, ApiObject, Frozen, ManifestPart


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ServicePort(ManifestPart):
    name: str = ""
    protocol: str = ""
    port: int = 0
    target_port: int | str | None = None
    node_port: int = 0


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ServiceSpec(ManifestPart):
    """`selector` is a plain map of labels; an empty one selects no pods."""

    selector: Frozen = EMPTY
    type: str = ""
    cluster_ip: str = attrs.field(default="", metadata={"name": "clusterIP"})
    ports: tuple[ServicePort, ...] = ()
    external_name: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Service(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: ServiceSpec = ServiceSpec()
