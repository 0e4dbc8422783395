"""StatefulSet, Namespace and Event: what makes pods and claims, where they live, and what is said of them."""

from __future__ import annotations

from typing import ClassVar

import attrs

from .meta import EMPTY, MOMENT, Frozen, ObjectMeta, ObjectReference
from .pod import PodTemplateSpec
from .selector import LabelSelector
from .volume import PersistentVolumeClaim


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class StatefulSetSpec:
    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()
    service_name: str = ""
    pod_management_policy: str = ""
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class StatefulSetStatus:
    observed_generation: int | None = None
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class StatefulSet:
    kind: ClassVar[str] = "StatefulSet"
    api_version: ClassVar[str] = "apps/v1"

    metadata: ObjectMeta = ObjectMeta()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Namespace:
    kind: ClassVar[str] = "Namespace"
    api_version: ClassVar[str] = "v1"

    metadata: ObjectMeta = ObjectMeta()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class EventSource:
    component: str = ""
    host: str = ""
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Event:
    """What a component said of an object; equal ones are counted in one Event."""

    kind: ClassVar[str] = "Event"
    api_version: ClassVar[str] = "v1"

    metadata: ObjectMeta = ObjectMeta()
    involved_object: ObjectReference = ObjectReference()
    type: str = ""
    reason: str = ""
    message: str = ""
    source: EventSource = EventSource()
    count: int = 0
    first_timestamp: str | None = attrs.field(default=None, metadata=MOMENT)
    last_timestamp: str | None = attrs.field(default=None, metadata=MOMENT)
    rest: Frozen = EMPTY
