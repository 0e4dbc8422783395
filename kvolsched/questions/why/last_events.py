"""The last Event about an object: Events are sorted by object once, however many are asked."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...api import volumes
from ...api.kinds.pod import Pod
from ...scheduler.columns.snapshot import Snapshot
from ...world.apiserver import ref
from ...world.log import Key
from .answer import Remark


class LastEvents:
    """The Events of these objects, by the object that they are about."""

    def __init__(self, objects: Mapping[Key, Any]) -> None:
        self._about: dict[tuple[str, str, str], list[tuple[Key, Any]]] = {}
        for key, obj in objects.items():
            if key[0] == "Event":
                about = obj.involved_object
                self._about.setdefault((about.kind, about.namespace or "", about.name), []).append((key, obj))

    def of(self, obj: Any, type_: str = "") -> str:
        """Return reason and message of an object's last event, or of the last of this type; "" if there is none."""
        about = self._about.get((obj.kind, obj.metadata.namespace or "", obj.metadata.name), ())
        events = [event for _, event in sorted(about, key=lambda pair: pair[0])
                  if type_ in ("", event.type) and _is_about(event, obj)]  # fmt: skip
        if not events:
            return ""
        last = max(events, key=lambda event: (event.last_timestamp or event.metadata.creation_timestamp or ""))
        return f"{last.reason}: {last.message}"

    def refused_pods(self, objects: Mapping[Key, Any]) -> tuple[str, ...]:
        """Say of these objects which want more pods than they have, and why their controllers cannot create them."""
        owners = (owner for key, obj in objects.items() if key.kind == "Pod" for owner in obj.metadata.owner_references)
        owned = Counter(owner.uid for owner in owners)
        found = []
        for about, events in sorted(self._about.items()):
            obj = objects.get(Key(*about))
            last = max((event for _, event in events), key=lambda event: event.metadata.resource_version)
            if obj is None or last.reason != "FailedCreate" or not _is_about(last, obj):
                continue
            if owned[obj.metadata.uid] < getattr(obj.spec, "replicas", math.inf):
                found.append(f"{ref(Key(*about))} lacks pods: {last.reason}: {last.message}")
        return tuple(found)

    def warnings_of_claims(self, pod: Pod, seen: Snapshot) -> Iterator[Remark]:
        """Yield the last warning about each unbound claim of a pod: what its provisioner could not do."""
        for name in dict.fromkeys(pod.claim_names()):
            claim = seen.claim(pod.metadata.namespace, name)
            if claim is not None and not volumes.is_bound(claim) and (warning := self.of(claim, "Warning")):
                yield Remark(f"claim {name} is {claim.status.phase or 'Pending'}; last warning: {warning}")


def _is_about(event: Any, obj: Any) -> bool:
    """Say whether an Event is about this object, not about an earlier one of its name; kubelets give nodes no uid."""
    return event.involved_object.uid in ("", obj.metadata.name, obj.metadata.uid)
