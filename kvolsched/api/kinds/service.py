"""Service: its selector spreads pods that have no topology spread constraints."""

from __future__ import annotations

from typing import ClassVar

import attrs

from .meta import EMPTY, Frozen, ObjectMeta


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ServicePort:
    name: str = ""
    protocol: str = ""
    port: int = 0
    target_port: int | str | None = None
    node_port: int = 0
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ServiceSpec:
    """`selector` is a plain map of labels; an empty one selects no pods."""

    selector: Frozen = EMPTY
    type: str = ""
    cluster_ip: str = attrs.field(default="", metadata={"name": "clusterIP"})
    ports: tuple[ServicePort, ...] = ()
    external_name: str = ""
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Service:
    kind: ClassVar[str] = "Service"
    api_version: ClassVar[str] = "v1"
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()
    rest: Frozen = EMPTY
